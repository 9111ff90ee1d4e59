"""Undo: reverts a scale-out that did not help."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation
from rheostat.signals.last_resize import latest_size, resized
from rheostat.signals.statistics.windows import mean, within


@dataclass(frozen=True, slots=True)
class Undo:
    """Reverts a scale-out that did not help, after ``after_s`` seconds.

    It did not help if the processed rows rose by less than ``gain`` of the proportional increase,
    and the lag fell by less than ``gain`` and is still at least ``lag_s``. Larger sizes are then
    rejected for ``hold_s``. Rates and lags are means over ``window_s``.
    """

    after_s: float = 180.0
    gain: float = 0.1
    lag_s: float = 5.0
    hold_s: float = 600.0
    window_s: float = 60.0
    name: str = "undo"

    def __post_init__(self) -> None:
        for which in ("after_s", "gain", "hold_s", "window_s"):
            if not getattr(self, which) > 0:
                raise BadInput(f"undo's {which} must be above 0, but it is {getattr(self, which)}")
        if not self.lag_s >= 0:
            raise BadInput(f"undo's lag_s must be at least 0 seconds, but it is {self.lag_s}")

    def __call__(
        self, decision: Decision, observation: Observation, memory: Memory, now: float
    ) -> tuple[Decision, Memory]:
        """Return the decision, or the size before a scale-out that did not help."""
        kept = self._remember(observation, memory)
        trial, refused = self._trial(observation, memory, kept), memory.get("refused")
        if trial is not None and not 0 <= now - trial["t_s"] < self.after_s:
            # Without a recent observation, the means are too old to judge the trial.
            if observation.t_s >= now - self.window_s and self._in_vain(trial, kept):
                refused = {"above": trial["from"], "until_s": now + self.hold_s}
            trial = None
        # The lower bound covers a clock that was set back: the hold must not last for hours.
        if refused is not None and not refused["until_s"] - self.hold_s <= now < refused["until_s"]:
            refused = None
        kept = {**kept, "trial": trial, "refused": refused}
        if refused is None or decision.target <= refused["above"]:
            return decision, kept
        reason = (
            f"{decision.reason}; more than {refused['above']} did not help, for"
            f" {refused['until_s'] - now:.0f} s not again"
        )
        return replace(decision, target=refused["above"], reason=reason), kept

    def _trial(
        self, observation: Observation, memory: Memory, kept: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Return the trial, which begins when the size grows and ends when it falls back."""
        at_s, change = resized(observation, memory)
        trial: dict[str, Any] | None = memory.get("trial")
        # A further scale-out continues the trial, and the size to revert to stays the first one.
        size = observation.size or 0
        if change > 0 and trial is None:
            trial = {name: mean(memory.get(name, ())) for name in ("rate", "lag")}
            trial["from"] = size - change
        if trial is None or not change:
            return trial
        return {**trial, "t_s": at_s, "to": observation.size} if size > trial["from"] else None

    def _in_vain(self, trial: dict[str, Any], kept: dict[str, Any]) -> bool:
        rate, lag = mean(kept["rate"]), mean(kept["lag"])
        if rate is None or lag is None or trial["lag"] is None:
            return False
        if not (trial["rate"] and trial["from"]):
            return False
        # The maximum gain of any scale-out: rows in proportion to executors.
        promised = trial["rate"] * (trial["to"] / trial["from"] - 1)
        return (
            rate - trial["rate"] < self.gain * promised
            and lag >= self.lag_s
            and lag > (1 - self.gain) * trial["lag"]
        )

    def _remember(self, observation: Observation, memory: Memory) -> dict[str, Any]:
        now = observation.t_s
        values = {"rate": observation.processed_rows_per_s, "lag": observation.wait_s}
        kept: dict[str, Any] = {
            name: within(memory.get(name, ()), now, self.window_s)
            + ([] if value is None else [(now, value)])
            for name, value in values.items()
        }
        return {**kept, "seen": latest_size(observation)}
