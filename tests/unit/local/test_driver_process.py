from __future__ import annotations

import subprocess
import sys

from rheostat.local.spark_processes import end_driver

DRIVER = "org.apache.spark.deploy.SparkSubmit"


def started(code: str, *words: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_the_driver_is_ended_and_no_other_child():
    wait = "import time; print('ready', flush=True); time.sleep(60)"
    driver, other = started(wait, DRIVER), started(wait, "something.else")
    end_driver()
    assert driver.poll() is not None
    assert other.poll() is None
    other.kill()
    for each in (driver, other):
        each.communicate()


def test_without_a_driver_nothing_happens():
    end_driver()
