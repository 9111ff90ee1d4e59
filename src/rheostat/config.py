"""The options, one frozen dataclass a group: the source of the command line's help and of the defaults in Python."""

from __future__ import annotations

from dataclasses import dataclass, field

from rheostat.errors import BadInput


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOptions:
    """How often the loop looks, and what it forgives."""

    interval_s: float = field(default=5.0, metadata={"help": "seconds between two decisions"})
    cooldown_out_s: float = field(default=10.0, metadata={"help": "seconds after a rescaling before the next scale-out"})
    cooldown_in_s: float = field(default=60.0, metadata={"help": "seconds after a rescaling before the next scale-in"})
    stale_after_s: float = field(default=30.0, metadata={"help": "older observations decide nothing"})

    def __post_init__(self) -> None:
        if not self.interval_s > 0:
            raise BadInput(f"the decision interval must be above 0 seconds, but it is {self.interval_s}")
