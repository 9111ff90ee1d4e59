from __future__ import annotations

import pytest

from rheostat.errors import BadInput
from rheostat.local.standalone_cluster import Cluster


def test_a_cluster_without_cores_is_rejected() -> None:
    with pytest.raises(BadInput, match="at least 1 core, but 0"):
        Cluster(cores=0)


def test_a_cluster_that_was_not_started_has_no_executors() -> None:
    cluster = Cluster()
    assert not cluster.alive
