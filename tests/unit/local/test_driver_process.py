from __future__ import annotations

import subprocess
import sys

from rheostat.local.standalone_cluster import end_driver

DRIVER = "org.apache.spark.deploy.SparkSubmit"


def start_process(code: str, *arguments: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_only_the_driver_process_is_ended():
    wait = "import time; print('ready', flush=True); time.sleep(60)"
    driver, other = start_process(wait, DRIVER), start_process(wait, "something.else")
    end_driver()
    assert driver.poll() is not None
    assert other.poll() is None
    other.kill()
    for process in (driver, other):
        process.communicate()


def test_ending_an_absent_driver_does_nothing():
    end_driver()
