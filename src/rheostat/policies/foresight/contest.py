"""The contest with simpler ways: what a fixed size and ``measured-throughput`` would have cost in
the model, and who decides where one of them was clearly better for a day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from rheostat.policies.foresight.shadow import Terms, ahead, better, seen_as
from rheostat.policies.foresight.situation import Situation
from rheostat.ports import Policy

Contest: TypeAlias = Mapping[str, Any]
"""The shadows between two looks: JSON values only."""

SIMPLE = "measured-throughput"
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
    simple: Policy,
    rescale_cost: float,
    *,
    is_busy: bool,
) -> Contest:
    """Return the contest after this look, at which ``target`` executors were asked for; it stands
    as it was where the last round is a moment ago. ``is_busy``: the look has cost much already.
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
    other = contest.get("simple", {})
    memory, wanted = contest.get("memory", {}), at.size
    if other:
        decision, memory = simple.decide(seen_as(other, terms), memory)
        wanted = decision.target
        if at.ceiling is not None:
            wanted = min(wanted, at.ceiling)
    found = {
        "t_s": t_s,
        "watched_s": contest.get("watched_s", 0.0) + since_s,
        "ours": ahead(contest.get("ours", {}), terms, target),
        "simple": ahead(other, terms, max(1, wanted)),
        "memory": memory,
        "fixed": {size: ahead(each, terms, int(size)) for size, each in fixed.items()},
    }
    return {**found, **_winner(contest, found)}


def winner(contest: Contest) -> str | None:
    """Return who decides now: ``measured-throughput``, a size as text, or None: nobody else."""
    name, _ = contest.get("winner") or (None, None)
    return name


def _winner(contest: Contest, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the winner of a day for the day that follows; then the contest begins anew."""
    if won := contest.get("winner"):
        over = not 0 <= found["t_s"] - won[1] < _DAY_S
        return {"winner": None, "watched_s": 0.0} if over else {"winner": won}
    name = better(found["ours"], {SIMPLE: found["simple"], **found["fixed"]}, found["watched_s"])
    return {"winner": None if name is None else [name, found["t_s"]]}


def _thinned(sizes: Sequence[int]) -> list[int]:
    """Return at most eight of the sizes, the last among them."""
    step = -(-len(sizes) // _FIXED)
    return sorted({*list(sizes)[::step], sizes[-1]})[-_FIXED:]
