"""Shadows: how the same load would have gone, in the model, with a fixed size or another policy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from rheostat.model import InFlight, Observation

Shadow: TypeAlias = Mapping[str, Any]
"""A shadow between two looks: JSON values only."""

_DAY_S = 86_400.0
_WORSE = 1.1
_LATE = 0.01
_MOST = 50
"""Batches between two looks; what would come after them waits for the next look."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What all shadows of a look share."""

    t_s: float
    since_s: float
    rate: float
    batch_s: Callable[[float, int], float]
    """The duration of a batch over (rows, executors)."""

    trigger_s: float
    aim_s: float
    start_s: float
    rescale_cost: float
    """In executor-seconds."""


def ahead(shadow: Shadow, terms: Terms, wanted: int) -> dict[str, Any]:
    """Return a shadow at the time of this look, whose size is to be ``wanted`` from now on."""
    return aimed(gone_on(shadow, terms, wanted), terms, wanted)


def gone_on(shadow: Shadow, terms: Terms, first: int) -> dict[str, Any]:
    """Return a shadow at the time of this look: batches were run, late rows and executors counted;
    ``first`` is the size of one that begins.
    """
    keep = math.exp(-terms.since_s / _DAY_S)
    advanced: dict[str, Any] = {
        "size": shadow.get("size", first),
        "coming": shadow.get("coming"),
        "waits": shadow.get("waits", 0.0) + terms.rate * terms.since_s,
        "batch": shadow.get("batch"),
        "cost": keep * shadow.get("cost", 0.0),
        "rows": keep * shadow.get("rows", 0.0) + terms.rate * terms.since_s,
        "late": keep * shadow.get("late", 0.0),
        "last": shadow.get("last"),
    }
    _arrive(advanced, terms)
    advanced["cost"] += terms.since_s * max(advanced["size"], (advanced["coming"] or [0, 0])[1])
    for _ in range(_MOST):
        if not _batch(advanced, terms):
            break
    return advanced


def aimed(shadow: Shadow, terms: Terms, wanted: int) -> dict[str, Any]:
    """Return a shadow whose size is to be ``wanted`` from now on; more executors come after
    ``start_s``.
    """
    retargeted = dict(shadow)
    standing = (retargeted["coming"] or [0.0, retargeted["size"]])[1]
    if wanted == standing:
        return retargeted
    retargeted |= {"cost": retargeted["cost"] + terms.rescale_cost, "coming": None}
    if wanted > retargeted["size"]:
        retargeted["coming"] = [terms.t_s + terms.start_s, wanted]
    else:
        retargeted["size"] = wanted
    return retargeted


def shadow_observation(shadow: Shadow, terms: Terms) -> Observation:
    """Return what a policy would see of a shadow."""
    running, (last_s, last_rows) = shadow["batch"], shadow["last"] or (0.0, 0.0)
    lag = shadow["waits"] + (running[2] if running else 0.0)
    return Observation(
        t_s=terms.t_s,
        executors=shadow["size"],
        target=(shadow["coming"] or [0, shadow["size"]])[1],
        input_rows_per_s=terms.rate,
        lag_rows=lag,
        lag_s=lag / terms.rate if terms.rate > 0 else 0.0,
        batch_s=last_s or None,
        batch_rows=round(last_rows) or None,
        processed_rows_per_s=last_rows / last_s if last_s else None,
        trigger_s=terms.trigger_s,
        in_flight=InFlight(elapsed_s=terms.t_s - running[0], rows=round(running[2]))
        if running
        else None,
    )


def better(decides: str, ways: Mapping[str, Shadow], watched_s: float) -> str | None:
    """Return who is to decide from now on: whoever does, unless it is dearer by 10 % than another
    way that kept the objective, or did not keep it; then the cheapest that did. None: nobody kept
    it. Before a day has been watched all stays as it is.
    """
    if watched_s < _DAY_S:
        return decides
    kept = {name: way["cost"] for name, way in ways.items() if _late_share(way) <= _LATE}
    best = min(kept, key=lambda name: kept[name], default=None)
    stands = ways[decides]
    if _late_share(stands) > _WORSE * _LATE:
        return best
    return best if best and stands["cost"] > _WORSE * kept[best] else decides


def _late_share(shadow: Shadow) -> float:
    return float(shadow["late"] / max(shadow["rows"], 1e-9))


def _arrive(shadow: dict[str, Any], terms: Terms) -> None:
    if shadow["coming"] and terms.t_s >= shadow["coming"][0]:
        shadow["size"], shadow["coming"] = shadow["coming"][1], None


def _batch(shadow: dict[str, Any], terms: Terms) -> bool:
    """End the batch that runs and begin the next, if their time has come; tell whether it had."""
    begins_s = terms.t_s - terms.since_s
    if running := shadow["batch"]:
        began_s, ends_s, rows, oldest_s = running
        begins_s = max(ends_s, began_s + terms.trigger_s)
        if begins_s > terms.t_s:
            return False
        spread_s = max(began_s - oldest_s, 1e-9)
        late_s = ends_s - terms.aim_s - oldest_s
        shadow["late"] += rows * min(1.0, max(0.0, late_s) / spread_s)
        shadow["last"], shadow["batch"] = [ends_s - began_s, rows], None
    # of what waits now, what came after the batch begins is left
    left = min(shadow["waits"], terms.rate * (terms.t_s - begins_s))
    rows = shadow["waits"] - left
    if rows < 1:
        return False
    oldest_s = running[0] if running else begins_s - terms.trigger_s
    shadow["waits"] = left
    ends_s = begins_s + terms.batch_s(rows, shadow["size"])
    shadow["batch"] = [begins_s, ends_s, rows, oldest_s]
    return True
