"""Trains a class archive: ``python -m rheostat.lab.archive_training REQUEST``, started by ``archive.prepare``.

A cluster with one executor runs the query; when that has loaded what it needs, ``jcmd`` makes its JVM write the archive. (The
JVM could write it at its exit, but Spark's worker ends executors before they get to it.)
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rheostat.errors import RheostatError
from rheostat.lab.cluster import Cluster
from rheostat.lab.executor_options import session_options
from rheostat.lab.session import start_session
from rheostat.machine.jdk import find_jdk
from rheostat.model import Limits

BATCHES = 12
BATCHES_DEADLINE_S = 120.0
DUMP_DEADLINE_S = 60.0
RECORD = "-XX:+RecordDynamicDumpInfo"


def main(request: Mapping[str, Any]) -> None:
    """Start everything, let the query run, dump; ``request`` has query (``module:function``), arguments, jars and file."""
    with Cluster(cores=1) as cluster:
        os.environ.update(cluster.driver_environment())
        options = session_options(Limits(max_executors=1), jars=[Path(jar) for jar in request["jars"]], archive_flags=[RECORD], quiet=True)
        spark = start_session(cluster.url, options, "class archive training")
        try:
            query = _function(request["query"])(spark, **request["arguments"])
            _wait_for_batches(query)
            _dump(cluster.executors()[0].pid, Path(request["file"]))
            query.stop()
        finally:
            spark.stop()


def _function(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def _wait_for_batches(query: Any) -> None:
    deadline = time.monotonic() + BATCHES_DEADLINE_S
    while query.isActive and time.monotonic() < deadline:
        if len([progress for progress in query.recentProgress if progress["numInputRows"]]) >= BATCHES:
            return
        time.sleep(0.5)
    raise RheostatError(f"the query did not run {BATCHES} batches: {query.exception() or 'no data or no time'}".splitlines()[0])


def _dump(pid: int, file: Path) -> None:
    jcmd = find_jdk().home / "bin" / "jcmd"
    command = [str(jcmd), str(pid), "VM.cds", "dynamic_dump", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DUMP_DEADLINE_S)
    if done.returncode != 0 or not file.exists():
        raise RheostatError(f"jcmd wrote no archive: {' '.join((done.stdout + done.stderr).split())[-200:]}")


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]))
    except RheostatError as error:
        sys.exit(str(error))
