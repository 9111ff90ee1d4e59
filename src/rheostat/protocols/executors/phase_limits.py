"""How long each phase of a change of size may last."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from rheostat.errors import BadInput


def _wait(default: float, then: str) -> Any:
    return field(default=default, metadata={"then": then})


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """Time-outs of the protocol: seconds, but ``tries`` (a count); what follows each stands beside
    it.

    None leads back. Raises BadInput for a time of 0 or less and for less than 1 try.
    """

    warm_s: float = _wait(30.0, "an executor whose warm-up has not ended gets state cold")
    empty_s: float = _wait(
        300.0, "a draining candidate that stops losing partitions leaves with what it holds"
    )
    hidden_s: float = _wait(
        60.0, "a hidden executor is asked to leave, though no boundary came or state came back"
    )
    leave_s: float = _wait(
        90.0,
        "an executor that was asked to leave is asked again, after the same time killed, and killed"
        " again",
    )
    tries: int = _wait(4, "an assignment that failed this often in a row rests")
    rest_s: float = _wait(60.0, "an assignment that rests is tried once")
    replace_s: float = _wait(
        300.0,
        "a replacement for which no executor came is abandoned; it may be requested again after the"
        " same time",
    )
    idle_s: float = _wait(1.0, "where no batch was observed, this time counts as a batch boundary")

    def __post_init__(self) -> None:
        for option in fields(self):
            if option.name != "tries" and not getattr(self, option.name) > 0:
                raise BadInput(
                    f"{option.name} must be above 0 seconds, but it is {getattr(self, option.name)}"
                )
        if self.tries < 1:
            raise BadInput(f"tries must be at least 1, but it is {self.tries}")

    def of(self, phase: str) -> float:
        """Return how long a phase may last before it is late."""
        limits = {
            "warming": self.warm_s,
            "candidate": self.empty_s,
            "emptying": self.empty_s,
            "hidden": self.hidden_s,
        }
        # Those that remain, leaving, urged and killed, all wait for the end of a process.
        return limits.get(phase, self.leave_s)
