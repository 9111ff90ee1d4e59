from __future__ import annotations

from rheostat_lab.clusters import standalone_service


def test_taking_a_cluster_down_keeps_a_folder_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    theirs = tmp_path / "rheostat" / "cluster" / "sources.py"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("mine")
    standalone_service.down()
    assert theirs.read_text() == "mine"
