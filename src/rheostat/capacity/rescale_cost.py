"""What a change of size costs, learnt per job: until executors come, what they are slow at, and
what their start takes from those that work.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Learnt: TypeAlias = Mapping[str, Any]

_START_S, _START_SPREAD = 12.0, 0.7
"""Before any start is known: between Standalone's 3 s and a minute of YARN and Kubernetes. The
spread stands until one was seen that was asked for."""

_START_SHARE, _COLD_SHARE = 0.4, 0.3
_COLD_S = 2.0
"""What the first batch on new executors lasts longer: class loading, state that is fetched."""
_LOAD_SHARE, _LEAST_LOAD, _MOST_LOAD = 0.4, 1.15, 2.0
"""Executors that start on the same computers take time from those that work; batches that take less
longer than the least are not told from others.
"""

_LATE_SHARE = 0.4
_HOUR_S = 3600.0

_LOST_S = 300.0
"""Executors that did not come within this are not waited for, and teach nothing."""


@dataclass(frozen=True, slots=True)
class RescaleCost:
    """How long executors take to come (a lognormal), and how much longer the batch after takes."""

    start_s: float
    """Median."""

    spread: float
    cold_s: float
    load: float
    """Times as long as else batches take while executors start, at least 1."""

    late_s: float
    """Seconds of arrivals that a change makes late, by batches on executors that are cold."""

    spent_late_s: float
    """Those that changes of the last hour made late; e times less when they are an hour older."""

    def start_within_s(self, z: float = 1.28) -> float:
        """Return the time within which they come; ``z`` 1.28 is nine times in ten, 2 is 49 times
        in 50.
        """
        return self.start_s * math.exp(z * self.spread)


def rescale_cost(learnt: Learnt) -> RescaleCost:
    """Return what is known of the next change of size; executors that are still waited for have
    taken as long as that already.
    """
    start_s = math.exp(_start(learnt))
    if requested := learnt.get("asked"):
        start_s = max(start_s, learnt["looked_s"] - requested[0][0])
    return RescaleCost(
        start_s,
        math.sqrt(learnt.get("variance", _START_SPREAD**2)),
        learnt.get("cold_s", _COLD_S),
        load if (load := learnt.get("load", 1.0)) > _LEAST_LOAD else 1.0,
        learnt.get("late_s", 0.0),
        learnt.get("spent_late_s", 0.0),
    )


def on_their_way(learnt: Learnt, now_s: float) -> list[tuple[float, int]]:
    """Return (in so many seconds, so many executors) for all that were asked for and are not there,
    the soonest first.

    Who is overdue is expected after half as long again.
    """
    cost, arrivals, soonest_s = rescale_cost({**learnt, "asked": []}), [], 0.0
    for requested_s, target in learnt.get("asked", ()):
        gone_s = now_s - requested_s
        soonest_s = max(soonest_s, cost.start_within_s() - gone_s, 0.5 * gone_s)
        arrivals.append((soonest_s, target))
    return arrivals


def with_sight(learnt: Learnt, t_s: float, target: int, executors: int) -> dict[str, Any]:
    """Return what is known after a look: a start lasts from the look before the first sight of a
    higher target until between the first look with as many executors and the one before it: as
    long as was thought, as far as that allows.
    """
    looked_s = learnt.get("looked_s", t_s)
    requested = [request for request in learnt.get("asked", ()) if request[1] <= target]
    if target > max(learnt.get("target", target), learnt.get("executors", executors)):
        requested.append([looked_s, target])
    come = [request for request in requested if request[1] <= executors]
    lost = [request for request in requested if not 0 <= t_s - request[0] < _LOST_S]
    updated = {
        **learnt,
        "target": target,
        "executors": executors,
        "looked_s": t_s,
        "spent_late_s": learnt.get("spent_late_s", 0.0) * _kept(t_s - looked_s),
        "asked": [request for request in requested if request not in come and request not in lost],
        "lost": executors < target and (bool(lost) or learnt.get("lost", False)),
    }
    for requested_s, _ in come:
        if t_s > requested_s:
            updated = _with_start(updated, looked_s - requested_s, t_s - requested_s)
    return updated


def with_first_start(learnt: Learnt, start_s: float) -> Learnt:
    """Return what is known once the application's first executor has told how long it took: what
    others are thought to take until one was seen.
    """
    return {**learnt, "first_s": start_s} if 0 < start_s < _LOST_S else learnt


def with_cold_batch(learnt: Learnt, longer_s: float) -> dict[str, Any]:
    """Return what is known after the first batch on new executors, that lasted so much longer than
    the model says.
    """
    before = learnt.get("cold_s", _COLD_S)
    return {**learnt, "cold_s": before + _COLD_SHARE * (max(0.0, longer_s) - before)}


def with_late(learnt: Learnt, late_s: float) -> dict[str, Any]:
    """Return what is known after a batch amid a change, that was late for so many seconds of
    arrivals only because it lasted longer than the model says.
    """
    return {
        **learnt,
        "so_far_late_s": learnt.get("so_far_late_s", 0.0) + late_s,
        "spent_late_s": learnt.get("spent_late_s", 0.0) + late_s,
    }


def with_settled(learnt: Learnt) -> dict[str, Any]:
    """Return what is known once a change is over: what all of its batches made late is its cost."""
    kept = dict(learnt)
    if (total_late_s := kept.pop("so_far_late_s", None)) is not None:
        before_s = learnt.get("late_s", 0.0)
        kept["late_s"] = before_s + _LATE_SHARE * (total_late_s - before_s)
    return kept


def during_start(learnt: Learnt, from_s: float, until_s: float) -> float:
    """Return the share of a time in which the executors that are waited for started."""
    if not (requested := learnt.get("asked")):
        return 0.0
    within_s: float = until_s - max(requested[0][0], from_s)
    return max(0.0, within_s) / max(until_s - from_s, 1e-3)


def with_load(learnt: Learnt, times: float) -> dict[str, Any]:
    """Return what is known after a batch that ran while executors started, and lasted so many times
    as long as the model says.
    """
    before: float = learnt.get("load", 1.0)
    clipped = min(max(times, 1 / _MOST_LOAD), _MOST_LOAD)
    return {**learnt, "load": before + _LOAD_SHARE * (clipped - before)}


def _kept(since_s: float) -> float:
    return math.exp(-min(max(0.0, since_s), _HOUR_S) / _HOUR_S)


def _start(learnt: Learnt) -> float:
    """Return the logarithm of the median start."""
    return float(learnt.get("start", math.log(learnt.get("first_s", _START_S))))


def _with_start(learnt: dict[str, Any], least_s: float, most_s: float) -> dict[str, Any]:
    before = _start(learnt)
    off = math.log(min(max(math.exp(before), least_s), most_s)) - before
    share = _START_SHARE if "start" in learnt else 0.8
    variance = learnt.get("variance", _START_SPREAD**2)
    return {
        **learnt,
        "start": before + share * off,
        "variance": (1 - share) * (variance + share * off * off),
    }
