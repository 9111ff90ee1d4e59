"""The actions that a decision may contain in addition to the number of executors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class ReplaceExecutor:
    """Start another executor, then remove this one."""

    executor: str

    def __str__(self) -> str:
        """Return the action as the journal records it."""
        return f"replace executor {self.executor}"


@dataclass(frozen=True, slots=True)
class RepartitionState:
    """Change the number of state partitions of a query with ``command``, which a user runs."""

    partitions_before: int
    partitions: int
    command: str

    def __str__(self) -> str:
        """Return the action as the journal records it."""
        return (
            f"its {self.partitions_before} state partitions limit it, {self.partitions} would"
            f" suffice: {self.command}"
        )


@dataclass(frozen=True, slots=True)
class Recommendation:
    """An action that only a person can carry out."""

    text: str

    def __str__(self) -> str:
        """Return the action as the journal records it."""
        return self.text


Action: TypeAlias = ReplaceExecutor | RepartitionState | Recommendation
