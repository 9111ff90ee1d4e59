"""The options of the demo of receivers: the load, the receivers, the executors."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rheostat.config import GuardOptions, LoopOptions
from rheostat.model import Limits, Slo
from rheostat.protocols.receivers.fleet_size import FleetLimits
from rheostat_lab.demo.demo_options import between


@dataclass(frozen=True, slots=True, kw_only=True)
class PushDemo:
    """The options of the demo of receivers."""

    seconds: float = 240.0
    low: float = 40.0
    peak: float = 220.0
    senders: int = 8
    service_ms: float = 8.0
    """Delay per record in the query, which represents a call to an external system."""

    receiver_rows_per_s: float = 100.0
    """Maximum rate of one receiver; otherwise one would handle all that two cores can send."""

    receivers: FleetLimits = field(default_factory=lambda: FleetLimits(least=1, most=3))
    limits: Limits = field(default_factory=lambda: Limits.between(2, 4))
    cores: int = 2
    slo: Slo = field(default_factory=Slo)
    trigger_s: float = 2.0
    loop: LoopOptions = field(
        default_factory=lambda: LoopOptions(
            interval_s=3.0, cooldown_out_s=5.0, cooldown_in_s=15.0, reversal_hold_s=0.0
        )
    )
    guards: GuardOptions = field(default_factory=GuardOptions)
    protocol: str = "http"
    out: Path = Path("out/demo")

    def __post_init__(self) -> None:
        between(60.0, 3600.0, seconds=self.seconds)

    def rate(self, t_s: float) -> float:
        """Return the records per second of all senders: low, a ramp, a peak, and low again."""
        share = t_s / self.seconds
        up = min(1.0, max(0.0, (share - 0.2) / 0.15))
        down = min(1.0, max(0.0, (share - 0.55) / 0.1))
        return self.low + (self.peak - self.low) * (up - down)

    def in_words(self) -> str:
        """Return a description of the demo."""
        return (
            f"{self.senders} senders push {self.low:g} to {self.peak:g} records/s over"
            f" {self.protocol} for {self.seconds / 60:g} minutes;"
            f" {self.receivers.least} to {self.receivers.most} receivers take at most"
            f" {self.receiver_rows_per_s:g}/s each into Kafka; a query reads each once, waits"
            f" {self.service_ms:g} ms for it and writes it; {self.limits.min_executors} to"
            f" {self.limits.max_executors} executors of {self.cores} cores"
        )
