"""Measures the contribution of each rule of ``predictive`` by switching it off alone.

By default one simulated run per load counts the decisions that each rule changes: at every 16th
decision the policy decides again without the rule. With ``--runs`` the named rules are switched off
for complete runs, and their attainment and cost are compared with those of the full policy. Instead
of a rule, ``CONSTANT=VALUE`` changes one of ``Tuning``.

Run: python benchmarks/ablation.py [--seeds 801] [--starts 10 60] [--runs RULE ...] [--csv FILE]
     [--experiment experiments/predictive-short.yaml]
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from rheostat.capacity.rescale_cost import RescaleCost
from rheostat.model import Decision
from rheostat.policies.predictive import learning, policy, situation
from rheostat.policies.predictive.policy import Predictive
from rheostat.policies.predictive.scenarios import risk
from rheostat.policies.predictive.situation import LateShares, Situation
from rheostat.policies.predictive.situation import situation as new_situation
from rheostat.signals.forecasts import rate_history
from rheostat.signals.forecasts.surges import surges
from rheostat.sim.measures import measures
from rheostat.tuning import TUNING, Tuning
from rheostat_lab.sweep.runner import play
from rheostat_lab.sweep.sweep_cell import Cell
from rheostat_lab.sweep.sweep_spec import read_spec

EXPERIMENT = Path(__file__).parents[1] / "experiments" / "predictive.yaml"
EVERY = 16
"""Number of decisions per decision that is repeated without each rule."""

Switch = Tuning | tuple[Any, str, Any]

DECISION_RULES: dict[str, Switch] = {
    "error budget that late rows spend": (
        situation,
        "error_budget",
        lambda _, tuning: LateShares(tuning.late_share, 10 * tuning.late_share),
    ),
    "target below the SLO": Tuning(latency_target=1.0),
    "lower target in warm-up": Tuning(warm_up_headroom=0.0),
    "99 % path in warm-up": (rate_history.Rates, "is_young", False),
    "spread of start times": Tuning(start_z=0.0, start_z_surge=0.0, start_z_likely=0.0),
    "surges": (policy, "risk", lambda *_, **__: LateShares(0.0, 0.0)),
    "surges, expected loss": (policy, "risk", lambda *a, **k: risk(*a, **k)._replace(overall=0.0)),
    "surges, worst five minutes": (
        policy,
        "risk",
        lambda *a, **k: risk(*a, **k)._replace(in_window=0.0),
    ),
    "surges of unprecedented height": (
        situation,
        "surges",
        lambda *a, **k: replace(surges(*a, **k), unprecedented=surges(*a, **k).worst),
    ),
    "unprecedented surge while the rate rises": Tuning(rise=math.inf),
    "surges up to the first size": (
        situation,
        "surges",
        lambda rates, within_s, *, announced, **_: surges(rates, within_s, announced=announced),
    ),
    "longer batches after a scale-in": (policy, "_with_longer_batches", lambda at: at),
    "excess that ends before help": (policy, "_is_over", lambda *_: False),
    "help despite a binding constraint": (policy, "_helps", lambda *_, **__: False),
    "binding constraint": (policy, "_bound", lambda *_: None),
}
"""Rules that can be switched off for a single decision."""

MEMORY_RULES: dict[str, Switch] = {
    "contention": Tuning(contention_prior=math.inf),
    "detected period": (learning, "period_s", lambda _: None),
    "hour, day and week": (rate_history, "SEASONS_S", ()),
    "fitted forecast": (learning, "refit", lambda _, fits, __: fits),
    "learned cold batch": (RescaleCost, "with_cold_batch", lambda learned, *_: learned),
}
"""Rules that act through the policy's memory: only complete runs show their effect."""


def switch_of(name: str) -> Switch:
    """Return the switch of a rule, or the tuning of ``CONSTANT=VALUE``."""
    if name in (rules := DECISION_RULES | MEMORY_RULES):
        return rules[name]
    constant, _, value = name.partition("=")
    kind = type(getattr(TUNING, constant))
    return replace(TUNING, **{constant: kind(value)})


@contextmanager
def without(switch: Switch) -> Iterator[None]:
    """Switch a rule off while the context lasts."""
    with ExitStack() as stack:
        if isinstance(switch, Tuning):
            stack.enter_context(patch.object(Predictive, "tuning", switch))
        else:
            stack.enter_context(patch.object(*switch))
        yield


class Recount:
    """Decides as the policy does, and counts the decisions that each rule changes."""

    def __init__(self) -> None:
        self.decisions, self.sampled, self.changed = 0, 0, Counter[str]()
        self._decided = Predictive._decided  # noqa: SLF001
        self._situation = new_situation
        self._last: tuple[tuple[Any, ...], Mapping[str, Any]] = ((), {})

    def situation(self, *given: Any, **named: Any) -> Situation:
        """Store the arguments from which the situation is computed."""
        self._last = (given, named)
        return self._situation(*given, **named)

    def decided(self, policy: Predictive, at: Situation) -> Decision:
        """Return the decision; repeat every 16th without each rule."""
        decision = self._decided(policy, at)
        self.decisions += 1
        if self.decisions % EVERY == 0:
            self.sampled += 1
            for name, switch in DECISION_RULES.items():
                with without(switch):
                    given, named = self._last
                    again = self._situation(*given, **{**named, "tuning": Predictive.tuning})
                    self.changed[name] += self._decided(policy, again).target != decision.target
        return decision


def recounted(cell: Cell) -> Recount:
    """Simulate a cell once and return what each rule changed."""
    recount = Recount()
    decided: Callable[..., Decision] = lambda policy, at: recount.decided(policy, at)  # noqa: E731
    with (
        patch.object(policy, "situation", recount.situation),
        patch.object(Predictive, "_decided", decided),
    ):
        play(cell)
    return recount


def played(cell: Cell) -> tuple[bool, float]:
    """Return whether a cell attains its SLO, and its cost in slot-seconds."""
    ledger, settings = play(cell).ledger, cell.settings
    changes = ledger.targets.changes(0.0)
    paid_s = ledger.paid.integral(0.0, ledger.end_s)
    measured = measures(ledger, settings.slo, warm_up_s=settings.warm_up_s)
    return measured.attained, paid_s + settings.rescale_cost * changes


def rows(cells: list[Cell], rules: list[str]) -> Iterator[tuple[Any, ...]]:
    """Yield a row per cell and rule."""
    for cell in cells:
        place = (cell.load, cell.plant, cell.seed)
        if not rules:
            recount = recounted(cell)
            for name in DECISION_RULES:
                yield (*place, name, recount.changed[name], recount.sampled)
            continue
        for name in ("", *rules):
            with without(switch_of(name)) if name else ExitStack():
                attained, cost_slot_s = played(cell)
            yield (*place, name or "all rules", attained, round(cost_slot_s))


def main(arguments: list[str] | None = None) -> None:
    """Print a row per load and rule, and write them as CSV."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, nargs="+", default=[801])
    parser.add_argument("--starts", type=int, nargs="+", default=[10, 60], help="s")
    parser.add_argument("--loads", nargs="+", default=[], help="default: all")
    parser.add_argument("--minutes", type=float, default=140, help="length of a run")
    parser.add_argument("--runs", nargs="*", help="rules to switch off for complete runs")
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--experiment", type=Path, default=EXPERIMENT)
    given = parser.parse_args(arguments)
    rules = [*(DECISION_RULES | MEMORY_RULES)] if given.runs == [] else given.runs or []
    plants = {f"start {start_s} s" for start_s in given.starts}
    cells = {
        replace(cell, seed=seed, settings=replace(cell.settings, minutes=given.minutes)).text
        for cell in read_spec(given.experiment)
        for seed in given.seeds
        if cell.policy == "predictive" and cell.plant in plants
        if not given.loads or cell.load in given.loads
    }
    head = ("load", "plant", "seed", "rule", *_head(bool(rules)))
    lines = [head]
    for row in rows([Cell.of(text) for text in sorted(cells)], rules):
        lines.append(row)
        sys.stdout.write("\t".join(str(value) for value in row) + "\n")
        sys.stdout.flush()
    if given.csv:
        with given.csv.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)


def _head(runs: bool) -> tuple[str, str]:
    return ("attained", "cost_slot_s") if runs else ("changed", "decisions")


if __name__ == "__main__":
    main()
