"""The decisions of a replay as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rheostat.cli.output import plain_table
from rheostat.policies.reason_text import counted

if TYPE_CHECKING:
    from rheostat.replay.replayer import Decided

_SHOWN = 40


def show_decisions(decided: Sequence[Decided], several: bool) -> None:
    """Print each decision that changes the size, once, and a summary line."""
    from rich.console import Console
    from rich.markup import escape

    start_s = decided[0].t_s
    changes = [
        decision
        for number, decision in enumerate(decided)
        if _changes_size(decision) and (number == 0 or not _same(decision, decided[number - 1]))
    ]
    names_of = ["application"] if several else []
    table = plain_table("time", *names_of, "executors", "target", "why")
    for change in changes[:_SHOWN]:
        size = "?" if change.size is None else str(change.size)
        names = [escape(change.application or "")] if several else []
        table.add_row(
            f"{change.t_s - start_s:.0f} s",
            *names,
            size,
            str(change.decision.target),
            escape(change.decision.reason),
        )
    console = Console()
    if changes:
        console.print(table)
    if len(changes) > _SHOWN:
        console.print(f"... and {len(changes) - _SHOWN} more; all of them: --json")
    targets = [decision.decision.target for decision in decided]
    spread = (
        f"targets {min(targets)} to {max(targets)}, {sum(targets) / len(targets):.2f} on average"
    )
    console.print(
        f"{counted(len(decided), 'decision')}, {sum(map(_changes_size, decided))} of them for"
        " another size"
        f" than the one that stood; {spread}"
    )


def _changes_size(decided: Decided) -> bool:
    return decided.decision.target != decided.size


def _same(decided: Decided, before: Decided) -> bool:
    return (
        _changes_size(before)
        and decided.decision.target == before.decision.target
        and decided.application == before.application
    )
