"""The option groups as frozen dataclasses: the source of help texts and of Python defaults."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from rheostat.errors import BadInput

T = TypeVar("T")

SLO_HELP = "latency objective in seconds, or by query: orders=10,audit=60"
PRIORITY_HELP = "priority of queries, the others have 1; late rows count for the highest: orders=2"
"""Help text of an option and of its setting."""

WANTED = {
    float: "a finite number",
    int: "a whole number",
    bool: "True or False",
    str: "a text",
}
"""The name of each type in error messages."""


def check_kinds(options: Any) -> None:
    """Raise BadInput if a field of an option group has another type than its default, or is none of
    its choices.
    """
    for item in fields(options):
        kind, value = type(item.default), getattr(options, item.name)
        if not _is_of(kind, value):
            raise BadInput(f"{item.name} must be {WANTED[kind]}, but it is {value!r}")
        choices = item.metadata.get("choices")
        if choices and value not in choices:
            raise BadInput(f"{item.name} must be one of {', '.join(choices)}, but it is {value!r}")


def _is_of(kind: type, value: object) -> bool:
    if isinstance(value, bool) or kind in (bool, str):
        return isinstance(value, kind)
    if kind is float:
        return isinstance(value, int | float) and math.isfinite(value)
    return isinstance(value, kind)


def option(default: T, text: str, **metadata: Any) -> T:
    """Return a field with its help text; ``metadata`` are its ``choices``, and for the command line
    ``flag``, ``least`` and ``repeated`` (``cli.options.takes``).
    """
    return field(default=default, metadata={"help": text, **metadata})


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOptions:
    """How often the loop decides, and which delays it applies."""

    interval_s: float = option(5.0, "seconds between two decisions")
    cooldown_out_s: float = option(10.0, "seconds after a rescale before the next scale-out")
    cooldown_in_s: float = option(60.0, "seconds after a rescale before the next scale-in")
    reversal_hold_s: float = option(
        3600.0,
        "seconds for which a scale-in that was reversed at the same load is not repeated; doubled"
        " by each further one; 0: none",
    )
    stale_after_s: float = option(30.0, "seconds after which observations are too old to decide on")

    def __post_init__(self) -> None:
        check_kinds(self)
        if not self.interval_s > 0:
            raise BadInput(
                f"the decision interval must be above 0 seconds, but it is {self.interval_s}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalOptions:
    """How much of the journal is kept; the changes of a removed segment remain."""

    journal_mib: float = option(
        256.0, "maximum size of the journal, MiB; the oldest ticks are removed first"
    )
    journal_days: float = option(30.0, "days for which ticks are kept; changes are kept longer")
    object_store_s: float = option(
        75.0,
        "seconds between two writes of the journal to an object store, and between two checks there"
        " for a kill switch; changes of size or target are written at once",
    )

    def __post_init__(self) -> None:
        check_kinds(self)
        if not 1 <= self.journal_mib < math.inf:
            raise BadInput(
                f"the journal's size must be at least 1 MiB, but it is {self.journal_mib:g}"
            )
        if not self.journal_days > 0:
            raise BadInput(
                f"the journal's age must be above 0 days, but it is {self.journal_days:g}"
            )
        if not 0 <= self.object_store_s <= 3600:
            raise BadInput(
                "the interval of object stores must be from 0 to 3600 s, but it is"
                f" {self.object_store_s:g}"
            )


PLACEMENTS = ("auto", "force", "off")
SHARES = ("count", "bytes", "ranges")


@dataclass(frozen=True, slots=True, kw_only=True)
class StateOptions:
    """How the state of stateful queries is placed."""

    placement: str = option(
        "auto",
        "move state with the executors: auto (where it has been verified), force, off",
        choices=PLACEMENTS,
    )
    shares: str = option(
        "count",
        "how state is distributed: count (even numbers), bytes (even bytes, if skewed),"
        " ranges (as Flink)",
        choices=SHARES,
    )
    standby: int = option(
        0,
        "warm executors without state above the target, up to the ceiling; they cost as"
        " much as others",
    )

    free_nodes: bool = option(
        True,
        "among executors with equal state, remove one on the emptiest node first",
        flag="--free-nodes/--any-node",
    )

    def __post_init__(self) -> None:
        check_kinds(self)
        if self.standby < 0:
            raise BadInput(f"standby must be at least 0 executors, but it is {self.standby}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartOptions:
    """How a job changes its size: live, or by restarting its process."""

    actuator: str = option(
        "live",
        "how the size is changed: live, or restart: the queries end their batches, and the"
        " script restarts at the new size",
        choices=("live", "restart"),
    )
    partitions: int = option(
        0,
        "with restart: state partitions of the queries; a different number is repartitioned"
        " between stop and start; 0: unchanged",
    )
    restart_pause_s: float = option(
        300.0, "with restart: minimum seconds from a start to the next restart"
    )
    drain_limit_s: float = option(
        120.0, "with restart: maximum seconds for a query to end its batch"
    )
    allow_repartition: bool = option(
        False,
        "with restart: repartition the state automatically when its partitions are the"
        " limit, in the maintenance window only",
        flag="--allow-repartition",
    )
    maintenance_window: str = option(
        "",
        "when repartitioning may stop the job, such as 'Sat-Sun 02:00-04:00 Europe/Berlin';"
        " several separated by ';'",
    )

    def __post_init__(self) -> None:
        check_kinds(self)
        if not 0 <= self.partitions <= 32_768:
            raise BadInput(f"partitions must be from 1 to 32768, but it is {self.partitions}")
        for name in ("restart_pause_s", "drain_limit_s"):
            if not getattr(self, name) >= 0:
                raise BadInput(f"{name} must be at least 0, but it is {getattr(self, name):g}")
        self._check_alone()

    def _check_alone(self) -> None:
        """Raise BadInput for options that have no effect without another one."""
        dependent = {
            "--partitions": self.partitions,
            "--allow-repartition": self.allow_repartition,
            "--maintenance-window": self.maintenance_window,
        }
        names = [name for name, given in dependent.items() if given]
        if self.actuator == "live" and names:
            raise BadInput(f"{' and '.join(names)} need --actuator restart")
        if self.allow_repartition and not self.maintenance_window.strip():
            raise BadInput(
                "--allow-repartition needs --maintenance-window, such as 02:00-04:00: the job is"
                " down while its state is repartitioned"
            )
        if self.maintenance_window and not self.allow_repartition:
            raise BadInput("--maintenance-window needs --allow-repartition")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardOptions:
    """The optional guards; 0 or empty is off.

    ``guards.guards_of`` creates them and rejects values out of range.
    """

    over_provisioning: float = option(0.0, "share added to the decided size")
    stabilization_out_s: float = option(
        0.0, "scale out to the smallest size decided in this many seconds"
    )
    stabilization_in_s: float = option(
        0.0, "scale in to the largest size decided in this many seconds"
    )
    undo: bool = option(False, "revert a scale-out that did not help")
    step_out: int = option(0, "maximum number of executors added at a time")
    step_in: int = option(0, "maximum number of executors removed at a time")
    budget: float = option(0.0, "maximum slot-hours per day (UTC)")
    floor: str | Sequence[str] = option(
        "",
        "minimum number of executors in a period, such as 'Mon-Fri 08:00-10:00"
        " Europe/Budapest = 4'; several separated by ';'",
        setting="floor",
        repeated=True,
    )
    ceiling: str | Sequence[str] = option(
        "",
        "maximum number of executors in a period, such as '22:00-06:00 = 2' (UTC); several"
        " separated by ';'",
        setting="ceiling",
        repeated=True,
    )
    excluded: str | Sequence[str] = option(
        "",
        "no changes in this period, such as '2026-12-24..2026-12-26 Europe/Budapest';"
        " several separated by ';'",
        setting="excluded",
        repeated=True,
    )

    def __post_init__(self) -> None:
        for name in ("floor", "ceiling", "excluded"):
            given = getattr(self, name)
            if isinstance(given, list | tuple):
                object.__setattr__(self, name, "; ".join(map(str, given)))
        check_kinds(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """Whether a driver serves its page and its control API over HTTP, and under which names."""

    serve: str = option(
        "",
        "serve the page, /metrics, /status and the control API at this port of the loopback"
        " address, or at HOST:PORT (0.0.0.0:PORT: the network of the pod); writing needs"
        " the token of the environment variable RHEOSTAT_TOKEN, and reading that of"
        " RHEOSTAT_READ_TOKEN if it is set",
    )
    serve_hosts: str = option(
        "",
        "host names, separated by commas, under which the page may be called besides"
        " addresses, localhost and the name of this computer",
    )
    serve_certificate: str = option("", "TLS certificate file (PEM); without one HTTP is plain")
    serve_key: str = option("", "key file (PEM) of that certificate")

    def __post_init__(self) -> None:
        check_kinds(self)
        port = self.serve.rpartition(":")[2]
        if self.serve and not (port.isdecimal() and int(port) < 65_536):
            raise BadInput(
                f"serve must be a port or HOST:PORT, such as 8085 or 0.0.0.0:8085, but it is"
                f" {self.serve!r}"
            )
        if bool(self.serve_certificate) != bool(self.serve_key):
            raise BadInput("serve_certificate and serve_key must be set together")

    @property
    def address(self) -> tuple[str, int]:
        """Host and port; the host is the loopback address unless one is named."""
        host, _, port = self.serve.rpartition(":")
        return host.strip("[]") or "127.0.0.1", int(port)

    @property
    def tls(self) -> tuple[str, str] | None:
        """The files of the certificate and the key; None for plain HTTP."""
        return (self.serve_certificate, self.serve_key) if self.serve_certificate else None

    @property
    def host_names(self) -> frozenset[str]:
        """The host names as a set."""
        names = (name.strip().lower() for name in self.serve_hosts.split(","))
        return frozenset(filter(None, names))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """Destinations of metrics and events in addition to the control API."""

    metrics_file: str = option(
        "",
        "write the metrics to this file at each decision, for the textfile collector of"
        " node_exporter",
    )
    otel: bool = option(
        False,
        "export the metrics through OpenTelemetry, configured by its variables OTEL_*",
        flag="--otel",
    )
    webhook: str = option(
        "",
        "send rescales, halts and failures to this URL; default: the environment variable"
        " RHEOSTAT_WEBHOOK",
    )
    webhook_format: str = option(
        "json", "format of the messages: json, slack or teams", choices=("json", "slack", "teams")
    )

    def __post_init__(self) -> None:
        check_kinds(self)
        if self.webhook and not self.webhook.startswith(("http://", "https://")):
            raise BadInput(
                "webhook must be a URL, such as https://example.com/hook, but it is"
                f" {self.webhook!r}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOptions:
    """Windows and threshold of the metrics that an application reports to an HPA."""

    lag_threshold_rows: float = option(
        50_000.0, "lag in rows above which the lag metric is positive"
    )
    window_s: float = option(60.0, "seconds over which lag and consumed rate are measured")
    calm_s: float = option(
        120.0, "seconds after a change of executors in which the calm metrics are 0"
    )

    def __post_init__(self) -> None:
        check_kinds(self)
        if not self.lag_threshold_rows >= 0:
            raise BadInput(
                f"lag_threshold_rows must be at least 0, but it is {self.lag_threshold_rows:g}"
            )
        for name in ("window_s", "calm_s"):
            if not getattr(self, name) > 0:
                raise BadInput(f"{name} must be above 0 seconds, but it is {getattr(self, name):g}")
