"""The reported backlog of real file and Delta streams equals the rows that no batch has read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest

from rheostat.kafka.jars import cache_folder
from rheostat.machine.ivy import cached_jars
from rheostat_lab.services.delta_jars import SPARKS, delta_jars

pytestmark = pytest.mark.e2e
PROGRAM = Path(__file__).with_name("source_backlog_program.py")
SPARK = ".".join(pyspark.__version__.split(".")[:2])


def observed(kind: str, folder: Path, seconds: int, jars: str = "") -> list[list[Any]]:
    """Return (truth, lag_rows, lag_counted, lag_unit, rate, lag_s) of each observation."""
    jars_given = f"--driver-class-path {jars} " if jars else ""
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": f"{jars_given}pyspark-shell"}
    words = [sys.executable, str(PROGRAM), kind, str(folder), str(seconds)]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_backlog_of_files_is_within_5_percent(tmp_path: Path) -> None:
    samples = observed("files", tmp_path, 80)
    waiting = [sample for sample in samples if sample[0] and sample[1] is not None]
    assert len(waiting) > 10
    assert {sample[3] for sample in waiting} == {"bytes"}
    errors = [abs(lag - truth) / truth for truth, lag, *_ in waiting if truth and lag is not None]
    assert max(errors) < 0.05
    assert any(rate for *_, rate, _ in waiting)


@pytest.mark.thorough
@pytest.mark.skipif(SPARK not in SPARKS, reason=f"no Delta for Spark {SPARK}")
def test_the_backlog_of_a_delta_table_is_exact(tmp_path: Path) -> None:
    samples = observed("delta", tmp_path, 150, ":".join(map(str, delta_jars())))
    waiting = [sample for sample in samples if sample[0]]
    assert len(waiting) > 10
    assert [(truth, "rows") for truth, *_ in waiting] == [
        (lag, unit) for _, lag, _, unit, *_ in waiting
    ]


@pytest.mark.thorough
@pytest.mark.skipif(SPARK != "4.1", reason=f"no Iceberg for Spark {SPARK}; 1.12.0 has one for 4.1")
def test_the_backlog_of_an_iceberg_table_is_exact(tmp_path: Path) -> None:
    element = (
        '<dependency org="org.apache.iceberg" name="iceberg-spark-runtime-4.1_2.13" rev="1.12.0"'
        ' conf="jars->default"/>'
    )
    jars = cached_jars(cache_folder() / "iceberg-1.12.0-4.1", "Iceberg", element)
    samples = observed("iceberg", tmp_path, 150, ":".join(map(str, jars)))
    waiting = [sample for sample in samples if sample[0]]
    assert len(waiting) > 10
    assert [(truth, "rows") for truth, *_ in waiting] == [
        (lag, unit) for _, lag, _, unit, *_ in waiting
    ]
