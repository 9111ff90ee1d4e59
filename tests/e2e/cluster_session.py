"""Starts a cluster and a session of one executor, prints the processes as JSON, and waits for its standard input to end."""

from __future__ import annotations

import json
import os
import sys

import psutil

from rheostat.lab.cluster import Cluster
from rheostat.lab.executor_options import session_options
from rheostat.lab.session import start_session
from rheostat.model import Limits


def main() -> None:
    with Cluster(cores=2) as cluster:
        os.environ.update(cluster.driver_environment())
        spark = start_session(cluster.url, session_options(Limits(max_executors=2), quiet=True), "cluster session")
        rows = spark.range(100).count()
        processes = [each for each in psutil.Process().children(recursive=True) if "java" in each.name()]
        hosts = {connection.laddr.ip for each in processes for connection in each.net_connections() if connection.status == "LISTEN"}
        said = {"rows": rows, "executors": len(cluster.executors()), "java": [each.pid for each in processes], "hosts": sorted(hosts)}
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()
        sys.stdin.read()
        spark.stop()


if __name__ == "__main__":
    main()
