"""How the batches to come go with a size: on a path of rates, and if the rate surges."""

from __future__ import annotations

from collections.abc import Callable

from rheostat.capacity.rollout import Arrivals, Backlog, Course, Size, rollout
from rheostat.policies.foresight.late_rows import WINDOW_S
from rheostat.policies.foresight.situation import Situation
from rheostat.signals.forecasts.surges import Surge


def course(at: Situation, arrivals: Arrivals, target: int, until_s: float) -> Course:
    """Return the course with ``target`` executors requested now: those that are there work until
    the others start.
    """
    return rollout(
        at.backlog,
        arrivals,
        _sizes(at, target),
        trigger_s=at.trigger_s,
        slo_s=at.aim_s,
        until_s=until_s,
    )


def surging(at: Situation, surge: Surge, target: int, there_s: float, phase: float) -> Course:
    """Return the course with ``target`` executors if the rate surges, and all that there may be are
    there ``there_s`` later; a batch has begun a ``phase`` (0 to 1) of an interval before.

    Until then batches take what arrives in a trigger interval: a size must not seem to suffice
    because a batch has just ended, and not to suffice a moment later.
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
    most = (there_s, _batch(at, max(target, at.sizes[-1])), at.cost.cold_s)
    return rollout(
        begun,
        Arrivals(begun, surge.path(rate, until_s)),
        [(0.0, batch_s, 0.0), most],
        trigger_s=at.trigger_s,
        slo_s=at.aim_s,
        until_s=until_s,
    )


def risk(at: Situation, target: int, *, as_never: bool = False) -> tuple[float, float]:
    """Return the shares of rows that surges would make late with ``target`` executors: over all, as
    often as they come, and in the worst five minutes; ``as_never`` as in ``rare_surges``.
    """
    sustained = at.sustained(target)
    rows = max(1.0, at.rate * at.back_s)
    often = at.surges.above(sustained)
    late, window = 0.0, 0.0
    if often:
        there_s = at.cost.start_within_s(at.tuning.start_z_likely) + at.tick_s / 2
        surged = surging(at, often, target, there_s, at.tuning.surge_phase)
        late = often.share * surged.late_rows / rows
    for surge in rare_surges(at, as_never=as_never):
        if surge.rate > sustained:
            surged = surging(
                at, surge, target, at.cost.start_within_s(at.tuning.start_z_surge) + at.tick_s, 0.0
            )
            window = max(window, surged.late_rows / max(1.0, surge.rate * WINDOW_S))
    return late, window


def rare_surges(at: Situation, *, as_never: bool = False) -> list[Surge]:
    """Return the surges of which each must fit into the error budget of five minutes: the worst of
    the past, in warm-up the present rise if it lasts, and with ``as_never``, or while the rate of a
    job in warm-up rises, one without precedent.
    """
    surges = [at.surges.worst]
    if at.is_young:
        surges.append(at.surges.continued)
        as_never = as_never or at.surges.continued.rate > at.tuning.rise * at.rate
    if as_never:
        surges.append(at.surges.unprecedented)
    return surges


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


def _sizes(at: Situation, target: int) -> list[Size]:
    working = min(at.now.executors or 1, target)
    sizes: list[Size] = [(0.0, _batch(at, working), 0.0)]
    for in_s, there in at.way:
        if working < min(there, target):
            working = min(there, target)
            sizes.append((in_s, _batch(at, working), at.cost.cold_s))
    if target > working and not at.lost:
        ready_s = max(at.start_s, sizes[-1][0])
        sizes.append((ready_s, _batch(at, target), at.cost.cold_s))
    return sizes


def _batch(at: Situation, executors: int) -> Callable[[float], float]:
    return at.model.model.at(max(1, executors) * at.slots, at.longer)
