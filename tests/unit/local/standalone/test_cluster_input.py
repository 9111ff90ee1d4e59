from __future__ import annotations

import socket

import pytest

from rheostat.errors import BadInput
from rheostat.local.standalone_cluster import Cluster, given_or_free
from rheostat.machine.free_ports import LOOPBACK


@pytest.mark.parametrize("name", ["the Spark master", "the Spark master's web page"])
def test_a_port_already_in_use_is_reported_in_one_line(name: str) -> None:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"port {port} for {name} is taken"):
            given_or_free(port, name)


def test_a_cluster_without_cores_is_rejected() -> None:
    with pytest.raises(BadInput, match="at least 1 core, but 0"):
        Cluster(cores=0)


def test_a_cluster_that_was_not_started_has_no_executors() -> None:
    cluster = Cluster()
    assert not cluster.alive
    assert cluster.executors() == []
