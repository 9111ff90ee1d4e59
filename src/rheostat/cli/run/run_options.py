"""The options of ``rheostat run`` that no other command has."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.policies.default_policy import DEFAULT_POLICY

DEFAULT_CEILING = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """By which policy, within which limits and for which objective an application is sized."""

    policy: str = field(
        default=DEFAULT_POLICY,
        metadata={
            "help": "policy by name, or your own as module:Class, found beside the script, too"
        },
    )
    parameters: list[str] | None = field(
        default=None,
        metadata={"flag": "--set", "help": "a parameter of the policy, name=value; repeat it"},
    )
    minimum: int = field(
        default=1, metadata={"flag": "--min", "help": "floor of the number of executors"}
    )
    maximum: int | None = field(
        default=None,
        metadata={
            "flag": "--max",
            "help": "ceiling of the number of executors; default: --local, else 8",
        },
    )
    slo: float = field(default=10.0, metadata={"help": "latency objective in seconds"})
    price: float = field(
        default=0.0,
        metadata={"help": "price of a slot-hour, in which savings are shown; 0: none"},
    )
    shadow: bool = field(
        default=False,
        metadata={"flag": "--shadow", "help": "only watch and advise; nothing is touched"},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an application runs, and where its lag and its journal are."""

    master: str | None = field(
        default=None,
        metadata={"help": "Spark master; default: the one of your settings, else a local cluster"},
    )
    local: int | None = field(
        default=None,
        metadata={
            "help": "a local Standalone cluster with room for this many executors",
            "least": 1,
        },
    )
    kafka: str | None = field(
        default=None,
        metadata={
            "help": (
                "ask Kafka for the lag: host:port, or a file of properties (name=value lines as"
                " librdkafka calls them, with SASL and TLS); a local cluster gets Kafka's source"
            )
        },
    )
    journal: str | None = field(
        default=None,
        metadata={
            "help": (
                "folder of the journal, also hdfs:// or s3a:// and such; default: in the user's"
                " state folder, one an application."
                " Further applications of the script get folders in it"
            )
        },
    )

    def __post_init__(self) -> None:
        if self.master and self.local:
            raise BadInput(f"--master {self.master} and --local {self.local} exclude each other")

    def ceiling(self, maximum: int | None) -> int:
        """Return the ceiling where ``--max`` is this; raises BadInput for one that does not fit
        into ``--local``.
        """
        if maximum is not None and self.local and maximum > self.local:
            raise BadInput(
                f"--max {maximum} does not fit into a local cluster with room for {self.local};"
                " raise --local or lower --max"
            )
        return next(
            (limit for limit in (maximum, self.local) if limit is not None), DEFAULT_CEILING
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """Output of the command besides that of the script."""

    show_settings: bool = field(
        default=False,
        metadata={
            "flag": "--show-settings",
            "help": "print what would be set in Spark, yours where there is one, and run nothing",
        },
    )
    as_json: bool = field(
        default=False,
        metadata={
            "flag": "--json",
            "help": (
                "at the end one line of JSON on standard error (standard output is the script's):"
                " exit code, policy, limits, and of every application its journal, rescalings and"
                " slot-hours; with --show-settings JSON in place of its text"
            ),
        },
    )
    out: Path | None = field(
        default=None,
        metadata={"help": "write the same JSON to this file, first when the script starts"},
    )
