from __future__ import annotations

from typing import Any

from rheostat.clusters.pods import lacking
from rheostat_lab.clusters.kubernetes.control_plane import RULES


def review(*rules: Any, **more: Any) -> dict[str, Any]:
    return {"resourceRules": list(rules), **more}


def test_the_documented_role_has_all_permissions() -> None:
    assert lacking(review(*RULES), "jobs") == ()


def test_a_wildcard_role_has_all_permissions() -> None:
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    assert lacking(review(everything), "jobs") == ()


def test_a_missing_permission_is_reported_as_the_rbac_rule_to_add() -> None:
    pods = {"apiGroups": [""], "resources": ["pods"], "verbs": ["*"]}
    assert lacking(review(pods), "jobs") == (
        "events in namespace jobs: the driver may not list (preempted, evicted and deleted"
        " executors cannot be distinguished); add to its role:"
        ' apiGroups: [""], resources: ["events"], verbs: ["list"]',
    )


def test_rules_for_one_pod_or_another_api_group_do_not_count() -> None:
    named = {"apiGroups": [""], "resources": ["pods"], "verbs": ["*"], "resourceNames": ["a"]}
    other = {"apiGroups": ["apps"], "resources": ["pods"], "verbs": ["*"]}
    assert len(lacking(review(named, other), "jobs")) == 2


def test_an_incomplete_review_reports_nothing() -> None:
    assert lacking(review(incomplete=True), "jobs") == ()
