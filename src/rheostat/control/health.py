"""The health of a job: one word, one sentence, and the next action."""

from __future__ import annotations

from dataclasses import dataclass

from rheostat.journal.explanation import format_duration
from rheostat.journal.job_status import ALLOWED_LATE_SHARE, JobStatus
from rheostat.journal.starts import RESTART, SHADOW
from rheostat.plural import counted

HEALTHY, LATE, BOUND, HALTED, BLIND = "Healthy", "Late", "Bound", "Halted", "Blind"
NOT_SCALING = "Not scaling"
WORDS = (NOT_SCALING, HALTED, BLIND, LATE, BOUND, HEALTHY)
"""The words in the order in which they are checked: the first that applies is shown."""

_BLOCKING = ("ceiling", "budget", "the cluster", "slot-hour budget", "excluded period", "schedule")


@dataclass(frozen=True, slots=True)
class Health:
    """One of ``WORDS``, the reason, and the next action; the action is empty if none is needed."""

    word: str
    sentence: str
    action: str = ""


def health(status: JobStatus, late_share: float | None = None) -> Health:
    """Return the health of a job; ``late_share`` is the recent share of late rows."""
    return (
        _not_scaling(status)
        or _halted(status)
        or _blind(status)
        or _late(status, late_share)
        or _bound(status)
        or _healthy(status)
    )


def _not_scaling(status: JobStatus) -> Health | None:
    start = status.start
    if status.state == "ended":
        return Health(NOT_SCALING, f"The job ended with {_executors(status.executors)}.")
    if status.state in ("dead", "silent"):
        words = {
            "dead": ("The process has ended", "Read the driver's log, and start the job again."),
            "silent": ("The process runs but makes no decisions", "Read the driver's log."),
        }
        what, action = words[status.state]
        age = "" if status.age_s is None else f" {format_duration(status.age_s)} ago"
        return Health(NOT_SCALING, f"{what}: the last decision was made{age}.", action)
    if start is not None and start.mode == SHADOW:
        wanted = status.wanted if status.wanted is not None else status.target
        advice = "nothing is changed" if wanted is None else f"{_executors(wanted)} recommended"
        return Health(
            NOT_SCALING,
            f"Shadow mode: {advice}; {_size(status)}.",
            "Use rheostat.attach in place of rheostat.shadow to apply the recommendations.",
        )
    if status.phase == "failed":
        return Health(
            NOT_SCALING, f"The last decision failed: {status.detail}.", "Read the driver's log."
        )
    return None


def _halted(status: JobStatus) -> Health | None:
    if not status.halted:
        return None
    detail = status.detail or "the kill switch is set"
    resume = f"Resume it with Control on the driver's page, or: rheostat resume {status.journal}"
    return Health(HALTED, f"No decisions are made ({detail}); {_size(status)}.", resume)


def _blind(status: JobStatus) -> Health | None:
    """Return why the job cannot be observed; between two runs there is nothing to observe."""
    if status.broker_up is False:
        kafka = status.start.kafka if status.start and status.start.kafka else "the Kafka broker"
        return Health(
            BLIND,
            f"{kafka} does not answer, so the backlog is unknown; the size is kept.",
            "Check the broker and the network between it and the driver.",
        )
    if status.state == "starting":
        return None
    if status.is_between_runs:
        return Health(HEALTHY, "No query is running; executors are released between runs.")
    if status.executors is None:
        return Health(
            BLIND, "No query is running, so nothing can be measured.", "Start a streaming query."
        )
    if status.input_rows_per_s is None and status.latency_s is None:
        return Health(
            BLIND,
            "Neither the arrival rate nor a batch has been measured yet.",
            "Wait for the first batches, or name the broker with kafka=.",
        )
    return None


def _late(status: JobStatus, late_share: float | None) -> Health | None:
    slo_s = status.start.slo_s if status.start else None
    if slo_s is not None and status.waiting_s > slo_s:
        sentence = f"Rows wait {status.waiting_s:.1f} s; the objective is {slo_s:g} s."
    elif late_share is not None and late_share > ALLOWED_LATE_SHARE:
        sentence = (
            f"{late_share:.1%} of the rows of the last ten minutes were late; 1 % is allowed."
        )
    else:
        return None
    return Health(LATE, sentence, _late_action(status))


def _late_action(status: JobStatus) -> str:
    if _is_bound(status):
        return _bound_action(status)
    if status.target is not None and status.executors is not None:
        missing = status.target - status.executors
        if missing > 0:
            return f"Wait: {_executors(missing)} requested and not registered yet."
    if status.target is not None and status.wanted == status.target:
        return "Wait for the backlog to shrink; where this happens often, raise the floor."
    return "Open the newest decision below: it names the guard that holds the size."


def _is_bound(status: JobStatus) -> bool:
    if not status.binding:
        return False
    limits_growth = status.wanted is None or status.target is None or status.wanted > status.target
    names = status.binding.startswith(_BLOCKING) and limits_growth
    return names or status.binding.endswith("more executors would not help")


def _bound(status: JobStatus) -> Health | None:
    if not _is_bound(status):
        return None
    binding = status.binding or ""
    return Health(BOUND, f"{binding[:1].upper()}{binding[1:]}.", _bound_action(status))


def _bound_action(status: JobStatus) -> str:
    binding = status.binding or ""
    if binding.startswith("ceiling"):
        return (
            f"Raise the ceiling (now {status.start.max_executors if status.start else 'unknown'})."
        )
    if binding.startswith("the cluster"):
        return "Ask the cluster manager for more capacity, or raise the quota."
    if "partition" in binding:
        return "Give the topic or the state more partitions: rheostat state plan CHECKPOINT."
    if "sink" in binding:
        return "Speed up the sink; more executors would not help."
    return "Change the guard that limits the size."


def _healthy(status: JobStatus) -> Health:
    start = status.start
    way = " (restarts)" if start and start.mode == RESTART else ""
    if status.latency_s is None or start is None:
        return Health(HEALTHY, f"{_size(status)}{way}.")
    return Health(
        HEALTHY,
        f"Rows are committed in {status.latency_s:.1f} s, within the objective of"
        f" {start.slo_s:g} s, by {_executors(status.executors)}{way}.",
    )


def _size(status: JobStatus) -> str:
    known = status.executors is not None
    return f"it has {_executors(status.executors)}" if known else "its size is unknown"


def _executors(count: int | None) -> str:
    return "unknown" if count is None else counted(count, "executor")
