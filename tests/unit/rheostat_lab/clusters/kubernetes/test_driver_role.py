from __future__ import annotations

from pathlib import Path

import yaml

from rheostat_lab.clusters.kubernetes.control_plane import RULES

ROLE = Path(__file__).parents[5] / "deploy" / "driver" / "role.yaml"


def test_the_deployed_role_matches_the_role_of_local_clusters() -> None:
    account, role, binding = yaml.safe_load_all(ROLE.read_text())
    assert role["rules"] == list(RULES)
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert binding["subjects"] == [{"kind": account["kind"], "name": account["metadata"]["name"]}]
