"""The options that only ``rheostat run`` has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from rheostat.cli.options.options import pairs
from rheostat.errors import BadInput
from rheostat.policies.default_policy import DEFAULT_POLICY


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How and where an application is autoscaled, and the source of its lag and its journal."""

    policy: str = field(
        default=DEFAULT_POLICY,
        metadata={"help": "policy by name, or your own as module:Class, also next to the script"},
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
        default=0.0, metadata={"help": "price of a slot-hour, in which savings are shown; 0: none"}
    )
    shadow: bool = field(
        default=False,
        metadata={"flag": "--shadow", "help": "only watch and advise; nothing is touched"},
    )

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

    def arguments(self, groups: Mapping[str, Any], explicit: frozenset[str]) -> dict[str, Any]:
        """Return the arguments of explicitly set options, in the form of ``settings.merge``.

        ``groups`` are the groups of options by name. Raises BadInput for a ceiling above
        ``--local``.
        """
        from rheostat.kafka.client import client_config
        from rheostat.settings import GROUPS

        given = {name: getattr(self, name) for name in {"policy", "slo", "price"} & explicit}
        if "parameters" in explicit:
            given["parameters"] = pairs(self.parameters or ())
        if self.journal:
            given["journal"] = self.journal
        if self.kafka:
            given["kafka"] = client_config(self.kafka)
        for name, group in groups.items():
            names = {option.name for option in fields(group)} & explicit
            own = {option: getattr(group, option) for option in names}
            given |= {name: own} if own and name in GROUPS else own
        return {**given, "limits": self._limits(explicit)}

    def _limits(self, explicit: frozenset[str]) -> dict[str, int]:
        limits = {"min": self.minimum} if "minimum" in explicit else {}
        if self.maximum is not None and self.local and self.maximum > self.local:
            raise BadInput(
                f"--max {self.maximum} does not fit into a local cluster with room for"
                f" {self.local}; raise --local or lower --max"
            )
        ceiling = self.local if self.maximum is None else self.maximum
        return limits if ceiling is None else {**limits, "max": ceiling}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """Output of the command in addition to that of the script."""

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
