"""Rollouts of a candidate size: on a path of the forecast, and in surges."""

from __future__ import annotations

from collections.abc import Callable

from rheostat.capacity.rollout import Arrivals, Backlog, Path, RolloutResult, Size, rollout
from rheostat.policies.predictive.learning import WINDOW_S
from rheostat.policies.predictive.situation import LateShares, Situation
from rheostat.signals.forecasts.surges import Surge


def on_path(at: Situation, path: Path, target: int, until_s: float) -> RolloutResult:
    """Return the rollout with ``target`` executors requested now: the present ones work until the
    others have started.
    """
    return rollout(
        Arrivals(at.backlog, path),
        _sizes(at, target),
        trigger_s=at.trigger_s,
        slo_s=at.aim_s,
        until_s=until_s,
    )


def in_surge(
    at: Situation, surge: Surge, target: int, helped_s: float, phase: float
) -> RolloutResult:
    """Return the rollout with ``target`` executors if the rate surges now and the maximum size is
    ready after ``helped_s``. The running batch began a ``phase`` (0 to 1) of an interval ago.

    It is assumed to hold the arrivals of one interval, whatever the backlog: otherwise a size would
    suffice just after a batch and no longer a moment later.
    """
    rate, batch_s = at.rate, _batch(at, target)
    every_s = max(at.trigger_s, min(at.aim_s / 2, batch_s(rate * at.trigger_s)))
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
    most = (helped_s, _batch(at, max(target, at.sizes[-1])), at.cost.cold_s)
    return rollout(
        Arrivals(begun, surge.path(rate, until_s)),
        [(0.0, batch_s, 0.0), most],
        trigger_s=at.trigger_s,
        slo_s=at.aim_s,
        until_s=until_s,
    )


def risk(at: Situation, target: int, *, with_unprecedented: bool = False) -> LateShares:
    """Return the shares of late rows in surges with ``target`` executors: the expected one, and
    that of the worst five minutes. ``with_unprecedented`` as in ``rare_surges``.
    """
    sustained = at.sustained(target)
    rows = max(1.0, at.rate * at.back_s)
    often = at.surges.above(sustained)
    late, window = 0.0, 0.0
    if often:
        helped_s = at.cost.start_within_s(at.tuning.start_z_likely) + at.state.tick_s / 2
        result = in_surge(at, often, target, helped_s, 0.5)
        late = often.share * result.late_rows / rows
    helped_s = at.cost.start_within_s(at.tuning.start_z_surge) + at.state.tick_s
    for surge in rare_surges(at, with_unprecedented=with_unprecedented):
        if surge.rate > sustained:
            result = in_surge(at, surge, target, helped_s, 0.0)
            window = max(window, result.late_rows / max(1.0, surge.rate * WINDOW_S))
    return LateShares(late, window)


def rare_surges(at: Situation, *, with_unprecedented: bool = False) -> list[Surge]:
    """Return the surges that must each fit into the error budget of five minutes: the worst of the
    past, and one without precedent if requested or while the rate rises during warm-up.
    """
    is_rising = at.is_young and at.surges.continued_rate > at.tuning.rise * at.rate
    unprecedented = [at.surges.unprecedented] if with_unprecedented or is_rising else []
    return [at.surges.worst, *unprecedented]


def within_error_budget(risked: LateShares, at: Situation, least: LateShares | None = None) -> bool:
    """Return whether the late rows of surges are within the error budget, or hardly more than with
    the maximum size (``least``).
    """
    hardly_more = 1 + at.tuning.resolution
    pairs = zip(risked, at.error_budget, least or (0.0, 0.0), strict=True)
    return all(late <= max(budget, hardly_more * most) for late, budget, most in pairs)


def _sizes(at: Situation, target: int) -> list[Size]:
    working = min(at.now.executors or 1, target)
    sizes: list[Size] = [(0.0, _batch(at, working), 0.0)]
    for in_s, executors in at.cost.pending(at.now.t_s, at.tuning.start_z):
        if working < min(executors, target):
            working = min(executors, target)
            sizes.append((in_s, _batch(at, working), at.cost.cold_s))
    if target > working and not at.cost.is_lost:
        ready_s = max(at.start_s, sizes[-1][0])
        sizes.append((ready_s, _batch(at, target), at.cost.cold_s))
    return sizes


def _batch(at: Situation, executors: int) -> Callable[[float], float]:
    return at.model.at(max(1, executors) * at.slots, at.longer)
