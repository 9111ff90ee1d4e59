"""What a driver on Kubernetes may do with pods, read from the API server's own answer, and the rule
that its role lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

NEEDED: Mapping[str, Mapping[str, str]] = {
    "pods": {
        "create": "no executor can be added",
        "get": "Spark does not see how its executors end",
        "list": "the reason for missing executors is unknown",
        "watch": "Spark does not see how its executors end",
        "delete": "what Spark ends stays there",
    },
    "events": {"list": "preempted, evicted and deleted executors cannot be distinguished"},
}
"""By resource the verbs that are needed, and what happens without each."""


def lacking(status: Mapping[str, Any], namespace: str) -> tuple[str, ...]:
    """Return a line for each resource that lacks a verb, with the rule to add; none where the
    answer is not complete.

    ``status`` is that of a ``SelfSubjectRulesReview``.
    """
    if status.get("incomplete"):
        return ()
    rules = status.get("resourceRules") or []
    texts = []
    for resource, verbs in NEEDED.items():
        missing = [verb for verb in verbs if not _allowed(rules, resource, verb)]
        if missing:
            purposes = "; ".join(dict.fromkeys(verbs[verb] for verb in missing))
            named = ", ".join(f'"{verb}"' for verb in missing)
            texts.append(
                f"{resource} in namespace {namespace}: the driver may not {', '.join(missing)}"
                f' ({purposes}); add to its role: apiGroups: [""], resources: ["{resource}"],'
                f" verbs: [{named}]"
            )
    return tuple(texts)


def _allowed(rules: Iterable[Mapping[str, Any]], resource: str, verb: str) -> bool:
    return any(
        _has(rule, "apiGroups", "")
        and _has(rule, "resources", resource)
        and _has(rule, "verbs", verb)
        # A rule for single objects is none for those to come.
        and not rule.get("resourceNames")
        for rule in rules
    )


def _has(rule: Mapping[str, Any], part: str, wanted: str) -> bool:
    return not {wanted, "*"}.isdisjoint(rule.get(part) or ())
