"""The contest with simpler ways: what a fixed size and ``measured-throughput`` would have cost in
the model, and who decides where one of them was clearly better for a day; ``predictive`` is then
played in the model, and gets its place back where it would have been clearly better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from rheostat.policies.foresight.shadow import (
    Shadow,
    Terms,
    ahead,
    aimed,
    better,
    gone_on,
    shadow_observation,
)
from rheostat.policies.foresight.situation import Situation
from rheostat.policies.foresight.waiting import waiting
from rheostat.ports import Policy

Contest: TypeAlias = Mapping[str, Any]
"""The shadows between two looks: JSON values only."""

OURS, SIMPLE = "ours", "measured-throughput"
_DAY_S = 86_400.0
_FIXED = 8
"""Fixed sizes that are followed, at most."""

_EVERY_S, _LATEST_S = 15.0, 20.0
"""Between two rounds of the contest: it is a matter of days, and each shadow costs processor time.
A look that has read a horizon anew leaves a round to the next, as long as there is time."""

_GAP_S = 60.0


def contested(
    contest: Contest,
    at: Situation,
    target: int,
    decided: Callable[[Situation], int],
    simple: Policy,
    rescale_cost: float,
    *,
    is_busy: bool,
) -> Contest:
    """Return the contest after this look, at which ``target`` executors were asked for; it stands
    as it was where the last round is a moment ago. ``decided`` is what ``predictive`` would ask for
    in a situation; ``is_busy``: the look has cost much already.
    """
    t_s, before_s = at.now.t_s, contest.get("t_s", at.now.t_s)
    if contest and 0 <= t_s - before_s < (_LATEST_S if is_busy else _EVERY_S):
        return contest
    if not 0 <= t_s - before_s < _DAY_S:
        contest, before_s = {}, t_s
    since_s = min(t_s - before_s, _GAP_S)
    terms = Terms(
        t_s=t_s,
        since_s=since_s,
        rate=at.now.input_rows_per_s or 0.0,
        batch_s=lambda rows, executors: at.model.model.batch_s(rows, executors * at.slots),
        trigger_s=at.trigger_s,
        aim_s=at.aim_s,
        start_s=at.cost.start_s,
        rescale_cost=rescale_cost / at.slots,
    )
    fixed = contest.get("fixed") or {str(size): {} for size in _thinned(at.sizes)}
    other = gone_on(contest.get("simple", {}), terms, at.size)
    decision, memory = simple.decide(shadow_observation(other, terms), contest.get("memory", {}))
    wanted = decision.target if at.ceiling is None else min(decision.target, at.ceiling)
    ours = gone_on(contest.get("ours", {}), terms, target)
    if winner(contest) is not None:
        target = decided(_in_place_of(ours, at, terms))
    followed = {
        "t_s": t_s,
        "watched_s": contest.get("watched_s", 0.0) + since_s,
        "ours": aimed(ours, terms, target),
        "simple": aimed(other, terms, max(1, wanted)),
        "memory": memory,
        "fixed": {size: ahead(shadow, terms, int(size)) for size, shadow in fixed.items()},
    }
    ways = {OURS: followed["ours"], SIMPLE: followed["simple"], **followed["fixed"]}
    name = better(contest.get("decides", OURS), ways, followed["watched_s"])
    return {**followed, "decides": name or OURS}


def winner(contest: Contest) -> str | None:
    """Return who decides now: ``measured-throughput``, a size as text, or None: nobody else."""
    name: str = contest.get("decides", OURS)
    return None if name == OURS else name


def _in_place_of(ours: Shadow, at: Situation, terms: Terms) -> Situation:
    """Return the situation as it would be, had ``predictive`` decided: with the size and the
    backlog of its shadow.
    """
    shown = shadow_observation(ours, terms)
    now = replace(
        at.now,
        executors=shown.executors,
        target=shown.target,
        lag_rows=shown.lag_rows,
        lag_s=shown.lag_s,
        batch_s=shown.batch_s,
        batch_rows=shown.batch_rows,
        processed_rows_per_s=shown.processed_rows_per_s,
        in_flight=shown.in_flight,
    )
    coming = ours["coming"]
    return replace(
        at,
        now=now,
        backlog=waiting(now, at.model.model, terms.rate, at.longer),
        way=[(max(0.0, coming[0] - terms.t_s), coming[1])] if coming else [],
        lost=False,
    )


def _thinned(sizes: Sequence[int]) -> list[int]:
    """Return at most eight of the sizes, the last among them."""
    step = -(-len(sizes) // _FIXED)
    return sorted({*list(sizes)[::step], sizes[-1]})[-_FIXED:]
