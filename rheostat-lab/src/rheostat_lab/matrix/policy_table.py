"""Tables of the days of several policies, one per query, with the results as sentences.

Slot-hours are compared on the seeds on which both policies attained the objective, because missing
it may be cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean
from typing import TypeAlias

from rheostat_lab.matrix.played_run import PlayedRun

Days: TypeAlias = Sequence[PlayedRun]

_NOTHING = "-"


def table(days: Days, policies: Sequence[str]) -> list[str]:
    """Return one row per policy over the days of one query; the first policy is compared with each
    other.

    Numbers are means over the seeds, with minimum and maximum; failed tasks are a sum.
    """
    ours = of(days, policies[0])
    head = (
        "policy",
        "attained",
        "latency, mean",
        "executors, mean",
        "rescalings",
        "rows in time",
        "slot-hours",
        f"`{policies[0]}` less it",
        "99 % of rows within",
        "failed tasks",
        "exact",
    )
    lines = [row(*head), row(*["---"] * len(head))]
    for policy in policies:
        theirs = of(days, policy)
        compared = _NOTHING if policy == policies[0] else _compared(shares(ours, theirs))
        cells = _cells(theirs, compared) if theirs else ["not played", *[_NOTHING] * 9]
        lines.append(row(f"`{policy}`", *cells))
    return lines


def of(days: Days, policy: str) -> Days:
    """Return the days of one policy."""
    return [day for day in days if day.policy == policy]


def best_first(days: Days, policies: Sequence[str]) -> list[str]:
    """Return the first policy, then the others that were played: those that attained the objective
    most often, the cheapest first.
    """
    others = [policy for policy in policies[1:] if of(days, policy)]
    return [policies[0], *sorted(others, key=lambda policy: _rank(of(days, policy)))]


def _rank(days: Days) -> tuple[float, float]:
    return -mean(day.attained for day in days), mean(day.slot_hours for day in days)


def shares(ours: Days, theirs: Days) -> list[float]:
    """Return our slot-hours relative to theirs minus 1, for each seed on which both attained."""
    attained = {day.seed: day.slot_hours for day in theirs if day.attained}
    return [
        day.slot_hours / attained[day.seed] - 1
        for day in ours
        if day.attained and day.seed in attained
    ]


def sentences(days: Days, policies: Sequence[str]) -> list[str]:
    """Return what the first policy has over the others on a query's days, and what it lacks."""
    first, others = policies[0], policies[1:]
    ours = of(days, first)
    if not ours:
        return [f"`{first}` is not played yet."]
    compared = {other: shares(ours, of(days, other)) for other in others}
    fewer = [other for other in others if compared[other] and mean(compared[other]) < 0]
    lacks = [*_missed(ours), *_dearer(compared), *_attained_elsewhere(days, ours, others)]
    lines = [f"`{first}` attained on {_count(ours, lambda day: day.attained)} seeds."]
    if fewer:
        names = "; ".join(f"`{policy}`: {_compared(compared[policy])}" for policy in fewer)
        lines.append(f"Where both attained it took fewer slot-hours than {names}.")
    if never := [
        policy for policy in others if of(days, policy) and not _any_attained(days, policy)
    ]:
        lines.append(f"Attained on no seed: {', '.join(f'`{policy}`' for policy in never)}.")
    lines.append(
        f"It fell short of: {'; '.join(lacks)}."
        if lacks
        else "No other policy did better on these days."
    )
    if unplayed := [policy for policy in others if not of(days, policy)]:
        lines.append(f"Not played: {', '.join(f'`{policy}`' for policy in unplayed)}.")
    return lines


def _missed(ours: Days) -> list[str]:
    missed = [day.seed for day in ours if not day.attained]
    inexact = [day.seed for day in ours if not day.exact]
    failed = sum(day.failed_tasks for day in ours)
    return [
        *([f"the objective on seed {_listed(missed)}"] if missed else []),
        *([f"an exact output on seed {_listed(inexact)}"] if inexact else []),
        *([f"days without failed tasks ({failed} failed)"] if failed else []),
    ]


def _dearer(compared: dict[str, list[float]]) -> list[str]:
    return [
        f"fewer slot-hours than `{other}`: {_compared(differences)}"
        for other, differences in compared.items()
        if differences and mean(differences) >= 0
    ]


def _attained_elsewhere(days: Days, ours: Days, others: Sequence[str]) -> list[str]:
    missed = {day.seed for day in ours if not day.attained}
    seeds_of = {
        other: [day.seed for day in of(days, other) if day.attained and day.seed in missed]
        for other in others
    }
    return [
        f"`{other}` attained on seed {_listed(seeds)}, which it missed"
        for other, seeds in seeds_of.items()
        if seeds
    ]


def _any_attained(days: Days, policy: str) -> bool:
    return any(day.attained for day in of(days, policy))


def _cells(days: Days, compared: str) -> list[str]:
    in_time = [100 * day.share_within_slo for day in days if day.share_within_slo is not None]
    p99_s = [day.latency_p99_s for day in days if day.latency_p99_s is not None]
    mean_s = [day.latency_mean_s for day in days if day.latency_mean_s is not None]
    executors = [day.executors_mean for day in days if day.executors_mean is not None]
    return [
        _count(days, lambda day: day.attained),
        _spread(mean_s, 2, " s"),
        _spread(executors, 2),
        _spread([day.rescalings for day in days], 0),
        _spread(in_time, 2, " %"),
        _spread([day.slot_hours for day in days], 3),
        compared,
        _spread(p99_s, 1, " s"),
        str(sum(day.failed_tasks for day in days)),
        _count(days, lambda day: day.exact),
    ]


def _compared(differences: Sequence[float]) -> str:
    """Return a difference as its mean with minimum and maximum, and the number of seeds."""
    if not differences:
        return "on no seed both attained"
    percents = [100 * difference for difference in differences]
    return f"{_spread(percents, 0, ' %', '+')}, n {len(percents)}"


def _count(days: Days, holds: Callable[[PlayedRun], bool]) -> str:
    return f"{sum(map(holds, days))} of {len(days)}"


def _spread(values: Sequence[float], digits: int, unit: str = "", sign: str = "") -> str:
    if not values:
        return _NOTHING
    least, middle, most = (
        f"{value:{sign}.{digits}f}" for value in (min(values), mean(values), max(values))
    )
    return f"{middle}{unit}" if least == most else f"{middle}{unit} ({least} to {most})"


def _listed(seeds: Sequence[int]) -> str:
    return ", ".join(map(str, seeds))


def row(*cells: str) -> str:
    """Return one line of a Markdown table."""
    return f"| {' | '.join(cells)} |"
