"""How the batches to come go with a size: on a path of rates, and if the rate surges."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import fmean

from rheostat.capacity.batch import Trigger
from rheostat.capacity.rollout import Arrivals, Backlog, Course, Size, rollout
from rheostat.policies.foresight.late_rows import WINDOW_S
from rheostat.policies.foresight.situation import Situation
from rheostat.signals.forecasts.surges import Surge


def course(
    at: Situation, arrivals: Arrivals, target: int, until_s: float, *, starting: bool = False
) -> Course:
    """Return the course with ``target`` executors asked for now: those that are there work until
    the others come, slower while they start; ``starting``: as if more were asked for, too.
    """
    return rollout(
        at.backlog,
        arrivals,
        _with(at, target, starting),
        trigger_s=at.trigger_s,
        slo_s=at.aim_s,
        until_s=until_s,
    )


def is_last_look(at: Situation, arrivals: Arrivals, late_rows: float) -> bool:
    """Tell whether the most executors, requested at the next look, would come too late: with those
    that stand more than ``late_rows`` are late in the end, with the most requested at the next look
    still as many, and fewer if they are requested now.

    Where those that stand keep the objective, only the cold batch of new executors is late, and
    when it comes is no reason to request them.
    """
    most = max(at.size, at.sizes[-1])
    if most == at.size or at.lost:
        return False
    later = _requested_in(at, arrivals, most, at.tick_s)
    if later <= late_rows:  # as at most looks: the second rollout can be saved
        return False
    if course(at, arrivals, at.size, at.within_s + at.aim_s).late_rows <= late_rows:
        return False
    return later > late_rows + _requested_in(at, arrivals, most, 0.0)


def _requested_in(at: Situation, arrivals: Arrivals, target: int, in_s: float) -> float:
    """Return the late rows where ``target`` executors are asked for in so many seconds."""
    there = _with(at, at.size, starting=True)
    ready_s = max(at.start_s + in_s, there[-1][0])
    return rollout(
        at.backlog,
        arrivals,
        [*there, (ready_s, _batch(at, target), at.cost.cold_s)],
        trigger_s=at.trigger_s,
        slo_s=at.aim_s,
        until_s=at.within_s + at.aim_s,
    ).late_rows


def surging(at: Situation, surge: Surge, target: int, there_s: float, phase: float) -> Course:
    """Return the course with ``target`` executors if the rate surges, and all that there may be are
    there ``there_s`` later; a batch has begun a ``phase`` (0 to 1) of an interval before.

    Batches are taken to be as long until then as they have settled, or are now: a size must not
    seem to do because a batch has just ended, and not to do a moment later.
    """
    rate = at.rate
    batch_s = _batch(at, target)
    every_s = max(at.trigger_s, _lasts_s(at, target, rate))
    rows, ago_s = rate * every_s, phase * every_s
    ends_s = max(0.0, batch_s(rows) - ago_s)
    begun = Backlog(
        rows=phase * rows,
        since_s=-ago_s,
        begins_s=max(ends_s, every_s - ago_s),
        ends_s=ends_s,
        running_rows=rows,
        oldest_s=-ago_s - every_s,
    )
    until_s = at.back_s + at.aim_s + at.tuning.surge_follow_s
    most = (there_s, _batch(at, max(target, at.sizes[-1])), at.cost.cold_s)
    return rollout(
        begun,
        Arrivals(begun, surge.path(rate, until_s)),
        [(0.0, _batch(at, target, at.cost.load), 0.0), most],
        trigger_s=at.trigger_s,
        slo_s=at.aim_s,
        until_s=until_s,
    )


def _lasts_s(at: Situation, target: int, rate: float) -> float:
    """Return how long batches last with ``target`` executors before the rate surges.

    Where the rate is near what a size can do they would grow for many minutes until they settle,
    and beyond it without end: what has not come yet can still be met, so they count as they are
    now. Of a young load nothing is certain: there they have settled, or only just keep the aim.
    """
    settled_s = at.model.model.steady_s(rate, target * at.slots, Trigger(interval_s=at.trigger_s))
    if at.is_young:
        return at.aim_s / 2 if settled_s is None else settled_s
    now_s = _batch(at, target)(max(at.now.batch_rows or 0, rate * at.trigger_s))
    return min(at.aim_s / 2, now_s, math.inf if settled_s is None else settled_s)


def risk(at: Situation, target: int, *, as_never: bool = False) -> tuple[float, float]:
    """Return the shares of rows that surges would make late with ``target`` executors: over all, as
    often as they come, and in the worst five minutes; ``as_never``: also one that was never seen.
    """
    sustained = at.sustained(target)
    rows = max(1.0, at.rate * at.back_s)
    often, worst = at.surges.above(sustained), at.surges.worst
    seldom = [worst, at.surges.unprecedented] if as_never else [worst]
    late, window = 0.0, 0.0
    if often:
        there_s = at.cost.start_within_s(at.tuning.start_z_likely) + at.tick_s / 2
        courses = [surging(at, often, target, there_s, phase) for phase in at.tuning.surge_phases]
        late = often.share * fmean(course.late_rows for course in courses) / rows
    for surge in seldom:
        if surge.rate > sustained:
            surged = surging(
                at, surge, target, at.cost.start_within_s(at.tuning.start_z_surge) + at.tick_s, 0.0
            )
            window = max(window, surged.late_rows / max(1.0, surge.rate * WINDOW_S))
    return late, window


def within_error_budget(
    feared: tuple[float, float], at: Situation, least: tuple[float, float] = (0.0, 0.0)
) -> bool:
    """Tell whether surges make no more rows late than may be, or hardly more than with the most
    executors (``least``).
    """
    often, worst = feared
    return often <= max(at.late_share, 1.05 * least[0]) and worst <= max(
        at.late_in_window, 1.05 * least[1]
    )


def _with(at: Situation, target: int, starting: bool) -> list[Size]:
    working = min(at.now.executors or 1, target)
    load = at.cost.load if starting or (target > working and not at.lost) else 1.0
    sizes: list[Size] = [(0.0, _batch(at, working, load), 0.0)]
    if target > working:
        for in_s, there in at.way:
            if working < min(there, target):
                working = min(there, target)
                is_last = working >= target
                sizes.append((in_s, _batch(at, working, 1.0 if is_last else load), at.cost.cold_s))
    if target > working and not at.lost:
        ready_s = max(at.start_s, sizes[-1][0])
        sizes.append((ready_s, _batch(at, target), at.cost.cold_s))
    return sizes


def _batch(at: Situation, executors: int, load: float = 1.0) -> Callable[[float], float]:
    return at.model.model.at(max(1, executors) * at.slots, at.longer * load)
