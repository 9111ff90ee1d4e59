from __future__ import annotations

from typing import Any

from rheostat.clusters.pods import lacking
from rheostat_lab.clusters.kubernetes.control_plane import RULES


def review(*rules: Any, **more: Any) -> dict[str, Any]:
    return {"resourceRules": list(rules), **more}


def test_the_role_that_the_page_names_lacks_nothing() -> None:
    assert lacking(review(*RULES), "jobs") == ()


def test_somebody_who_may_do_everything_lacks_nothing() -> None:
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    assert lacking(review(everything), "jobs") == ()


def test_the_rule_to_add_names_resource_and_verbs() -> None:
    pods = {"apiGroups": [""], "resources": ["pods"], "verbs": ["*"]}
    assert lacking(review(pods), "jobs") == (
        "events in namespace jobs: the driver may not list (preempted, evicted and deleted"
        " executors cannot be distinguished); add to its role:"
        ' apiGroups: [""], resources: ["events"], verbs: ["list"]',
    )


def test_a_rule_for_one_pod_or_of_another_group_is_none() -> None:
    named = {"apiGroups": [""], "resources": ["pods"], "verbs": ["*"], "resourceNames": ["a"]}
    other = {"apiGroups": ["apps"], "resources": ["pods"], "verbs": ["*"]}
    assert len(lacking(review(named, other), "jobs")) == 2


def test_an_answer_that_is_not_complete_says_nothing() -> None:
    assert lacking(review(incomplete=True), "jobs") == ()
