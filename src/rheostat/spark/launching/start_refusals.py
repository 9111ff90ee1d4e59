"""Why a cluster manager has refused an application, in one line, from the stack trace that Spark
ends with: YARN's queue and application master, Kubernetes' namespace, rights and token.
"""

from __future__ import annotations

import re

_QUEUE = re.compile(
    r"(?:unknown queue\s*:?\s*|non-existent queue\s*:?\s*|to non-leaf queue\s*:?\s*)([^\s,.;]+)"
    r"|queue\s+(?:named\s+)?'?([^\s',]+)'?\s+(?:does not exist|doesn't exist|is not a leaf)",
    re.IGNORECASE,
)
_NAMESPACE = re.compile(r'namespaces \\?"([^"\\]+)\\?" not found')
_FORBIDDEN = re.compile(
    r'cannot (\w+) resource \\?"([^"\\]+)\\?" in API group \\?"([^"\\]*)\\?"'
    r'(?: in the namespace \\?"([^"\\]+))?'
)
_ENDED = re.compile(r"application has already ended!.*Application Master", re.DOTALL)
_TOKEN = re.compile(r"\b401\b.{0,40}Unauthorized|Unauthorized.{0,40}\b401\b|code=401", re.DOTALL)


def why_refused(message: str) -> str | None:
    """Return what is wrong and what would be right, from what Spark has said; None where the cause
    is none of those that are known.
    """
    queue = _QUEUE.search(message)
    if queue:
        return (
            f"YARN takes no application in the queue {queue[1] or queue[2]}; set spark.yarn.queue"
            " to a leaf queue that is there (yarn queue -list)"
        )
    namespace = _NAMESPACE.search(message)
    if namespace:
        return (
            f"Kubernetes has no namespace {namespace[1]}; set spark.kubernetes.namespace to one"
            f" that is there, or make it: kubectl create namespace {namespace[1]}"
        )
    forbidden = _FORBIDDEN.search(message)
    if forbidden:
        verb, resource, group, place = forbidden.groups()
        return (
            f"the driver may not {verb} {resource} in namespace {place or 'default'}; add to its"
            f' role: apiGroups: ["{group}"], resources: ["{resource}"], verbs: ["{verb}"]'
        )
    if _ENDED.search(message):
        return (
            "YARN has ended the application before it began: can its nodes reach this driver? See"
            " spark.driver.host and spark.driver.port; what the application master has said is in"
            " its log (yarn logs -applicationId ...)"
        )
    if _TOKEN.search(message):
        return (
            "the API server does not take the driver's token (401); give a new one in"
            " spark.kubernetes.authenticate.oauthTokenFile"
        )
    return None
