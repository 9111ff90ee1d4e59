"""A PID controller, the class of control theory that both surveys name first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from rheostat.model import Decision, Memory, Observation, hold
from rheostat.policies.parameters import About, Limited, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.statistics.windows import deriv, within

_SIGNALS = ("lag_s", "latency_s", "busy", "cpu")


@dataclass(frozen=True, slots=True)
class Pid(Limited):
    """executors = I + kp x e + kd x d(y)/dt with e = y - 1, y = signal / setpoint, I = size +
    integral of ki x e.

    All parts are in executors. e is limited to +-error_max, so that a long queue causes no jump.
    The derivative is taken on the measurement, as the slope of the window. Anti-windup: the
    integral begins at the current size, follows it if bounds and guards keep it more than
    ``windup`` from the request, and does not grow while executors are starting.
    """

    about: ClassVar[About] = About(
        formula=(
            "y = signal / setpoint, e = y - 1: executors = round(I + kp x e + kd x deriv(y)); dI/dt"
            " = ki x e\nwhere the size is more than windup from what was asked, I is moved until it"
            " is not"
        ),
        source=(
            "PI(D) control as in Astrom and Haegglund, PID Controllers (1995); named by Varga et"
            " al., section 2, and Koper, section 2.2"
        ),
        fails_when=(
            "executors take longer to start than the lag takes to grow (it overshoots), or gains"
            " were tuned at another load"
        ),
        steady=Observation(t_s=0.0, executors=4, lag_s=1.0),
    )

    signal: str = parameter(
        "lag_s", "what is controlled: lag_s, latency_s, busy or cpu", "text", choices=_SIGNALS
    )
    setpoint: float = parameter(
        1.0, "the value that the signal is to have", "of the signal", above=0
    )
    kp: float = parameter(0.5, "proportional gain", "executors")
    ki: float = parameter(0.01, "integral gain", "executors/s")
    kd: float = parameter(2.0, "derivative gain", "executors s")
    error_max: float = parameter(
        5.0, "the error is cut at this many times the setpoint", "1", above=0
    )
    windup: float = parameter(
        1.0, "largest distance of the requested from the actual size", "executors"
    )
    window_s: float = parameter(30.0, "window of the derivative", "s", above=0)

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size and the three parts of the controller's output."""
        now, size = observation.t_s, observation.size
        # Rows that arrived before the observation began have only a wait by Little's law.
        signal = "wait_s" if self.signal == "lag_s" else self.signal
        value = getattr(observation, signal)
        if value is None or not size:
            return hold(observation, f"size kept: {self.signal} or the size is unknown"), {}
        y = value / self.setpoint
        window = [*within(memory.get("window", ()), now, self.window_s), (now, y)]
        # Limited in both directions: a queue of hours must not request hundreds of executors at
        # once.
        error = min(self.error_max, max(-self.error_max, y - 1))
        integral = self._integral(observation, size, error, memory)
        # On the measurement, not on the error, so that a new setpoint causes no derivative kick.
        slope = min(self.error_max, max(-self.error_max, deriv(window) or 0.0))
        parts = {
            "integral": integral,
            "proportional": self.kp * error,
            "derivative": self.kd * slope,
        }
        # Half up in both directions: rounding half to even would oscillate around a half.
        target = max(1, math.floor(sum(parts.values()) + 0.5))
        reason = (
            f"{self.signal} is {value:.2f}, its setpoint {self.setpoint:g}:"
            f" {sum(parts.values()):.2f} executors needed"
        )
        fast = parts["proportional"] + parts["derivative"]
        kept = {"integral": integral, "fast": fast, "t_s": now, "window": window}
        return Decision(target=target, reason=reason, evidence=parts), kept

    @property
    def live_signals(self) -> frozenset[str]:
        """Return the controlled signal."""
        return frozenset({self.signal})

    def _integral(self, observation: Observation, size: int, error: float, memory: Memory) -> float:
        """Integrate with back-calculation: requests beyond the size do not accumulate."""
        # The integral that would have requested exactly the current size.
        standing = size - memory.get("fast", 0.0)
        tracked = min(
            standing + self.windup, max(standing - self.windup, memory.get("integral", standing))
        )
        step = self.ki * error * max(0.0, observation.t_s - memory.get("t_s", observation.t_s))
        coming = observation.executors is not None and observation.executors < size
        # Starting executors have not lowered the signal yet; integrating would request them twice.
        return float(tracked + (0.0 if coming and step > 0 else step))
