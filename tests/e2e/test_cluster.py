from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat.machine.free_ports import free_port
from rheostat_lab.clusters import standalone_service as cluster

pytestmark = pytest.mark.e2e


def test_a_cluster_starts_and_stops_without_a_parent_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    port = free_port()
    try:
        assert cluster.up(cores=1, port=port) == f"spark://127.0.0.1:{port}"
        with pytest.raises(BadInput, match="already running"):
            cluster.up()
    finally:
        ended = cluster.down()
    assert ended == f"spark://127.0.0.1:{port}"
    assert cluster.down() is None
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
