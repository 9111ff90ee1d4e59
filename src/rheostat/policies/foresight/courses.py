"""How the batches to come go with a size: on a path of rates, and if the rate surges."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rheostat.capacity.rollout import Arrivals, Course, Size, rollout
from rheostat.policies.foresight.situation import Situation

_AFTER_S = 60.0
"""A surge is followed for so long after the executors are back and the objective has passed."""

_WINDOW_S = 300.0


def course(at: Situation, arrivals: Arrivals, target: int, until_s: float) -> Course:
    """Return the course with ``target`` executors asked for now: those that are there work until
    the others come.
    """
    return _rolled(at, arrivals, _with(at, target), until_s)


def surging(at: Situation, rate: float, target: int) -> Course:
    """Return the course with ``target`` executors if the rate jumps to ``rate`` now, and all that
    there may be are asked for and come late.
    """
    path = [(0.0, rate), (at.coming.t_s[-1], rate)]
    before = [each for each in _with(at, target) if each[0] < at.back_s]
    sizes = [*before, (at.back_s, _batch(at, max(target, at.sizes[-1])), at.cost.cold_s)]
    until_s = at.back_s + at.objective_s + _AFTER_S
    return _rolled(at, Arrivals(at.backlog, path), sizes, until_s)


def risk(at: Situation, target: int, surges: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the shares of rows that surges would make late with ``target`` executors: over all,
    each surge as often as it comes, and in the worst five minutes.
    """
    sustained = at.sustained(target)
    rows = max(1.0, (at.now.input_rows_per_s or 0.0) * at.back_s)
    late, worst = 0.0, 0.0
    for rate, share in surges:
        if rate > sustained:
            found = surging(at, rate, target)
            late += share * found.late_rows
            worst = max(worst, found.late_rows / max(1.0, rate * _WINDOW_S))
    return late / rows, worst


def _with(at: Situation, target: int) -> list[Size]:
    working = min(at.now.executors or 1, target)
    sizes: list[Size] = [(0.0, _batch(at, working), 0.0)]
    if target > working:
        for in_s, there in at.way:
            if working < min(there, target):
                working = min(there, target)
                sizes.append((in_s, _batch(at, working), at.cost.cold_s))
    if target > working and not at.lost:
        ready_s = max(at.cost.start_within_s(), sizes[-1][0])
        sizes.append((ready_s, _batch(at, target), at.cost.cold_s))
    return sizes


def _batch(at: Situation, executors: int) -> Callable[[float], float]:
    return at.model.model.at(max(1, executors) * at.slots, at.longer)


def _rolled(at: Situation, arrivals: Arrivals, sizes: list[Size], until_s: float) -> Course:
    return rollout(
        at.backlog,
        arrivals,
        sizes,
        trigger_s=at.trigger_s,
        objective_s=at.objective_s,
        until_s=until_s,
    )
