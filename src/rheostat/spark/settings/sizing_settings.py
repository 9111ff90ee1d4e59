"""How an application is to be sized, as a user may write it; everything is checked before anything
is touched.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rheostat.config import AgentOptions, GuardOptions, JournalOptions, LoopOptions, StateOptions
from rheostat.errors import BadInput
from rheostat.guards import Guard, guards_of
from rheostat.model import Limits, Slo
from rheostat.policies.default_policy import DEFAULT_POLICY
from rheostat.policies.registry import create
from rheostat.ports import Policy

_SERVERS = "bootstrap.servers"
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How an application is to be sized; see ``settings_of`` for what each is.

    A ``journal`` that is a text is a folder on a file system of Hadoop's. Without ``limits_given``
    the ceiling is only a default: it rises to what is there already. ``restarts`` is the folder of
    the mail with a supervisor that restarts the job, None where the size is changed live.
    """

    policy: str | Policy = DEFAULT_POLICY
    parameters: Mapping[str, Any] = field(default_factory=dict)
    slo: Slo = field(default_factory=Slo)
    limits: Limits = field(default_factory=Limits)
    limits_given: bool = False
    kafka: Mapping[str, Any] | None = None
    journal: Path | str | None = None
    loop: LoopOptions = field(default_factory=LoopOptions)
    guards: GuardOptions = field(default_factory=GuardOptions)
    state: StateOptions = field(default_factory=StateOptions)
    retention: JournalOptions = field(default_factory=JournalOptions)
    agent: AgentOptions = field(default_factory=AgentOptions)
    replace: bool = False
    price: float = 0.0
    restarts: Path | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.parameters, Mapping):
            raise BadInput(
                f"parameters= must be a mapping of names to values, but it is {self.parameters!r}"
            )
        if not isinstance(self.policy, str):
            _check_policy(self.policy, self.parameters)
        for name, kind in (
            ("loop", LoopOptions),
            ("guards", GuardOptions),
            ("retention", JournalOptions),
            ("replace", bool),
        ):
            if not isinstance(getattr(self, name), kind):
                raise BadInput(
                    f"{name}= must be of type {kind.__name__}, but it is {getattr(self, name)!r}"
                )
        _check_price(self.price)
        if self.kafka is not None:
            _check_kafka(self.kafka)
        self.make_policy()
        self.make_guards()

    def make_guards(self) -> tuple[Guard, ...]:
        """Return the guards in their order; raises BadInput for an option out of range."""
        return guards_of(self.limits, self.guards, self.loop, not self.limits_given)

    def make_policy(self) -> Policy:
        """Return the policy; raises BadInput for one that is unknown or has wrong parameters."""
        if isinstance(self.policy, str):
            return create(self.policy, self.parameters, self.slo)
        return self.policy

    @property
    def policy_name(self) -> str:
        """The policy's name."""
        return self.policy if isinstance(self.policy, str) else type(self.policy).__name__

    @property
    def summary(self) -> str:
        """Policy, limits and objective in a few words."""
        limits = self.limits
        return (
            f"policy {self.policy_name}, {limits.min_executors} to {limits.max_executors}"
            f" executors, objective {self.slo.latency_s:g} s"
        )


def settings_of(
    *,
    policy: str | Policy = DEFAULT_POLICY,
    parameters: Mapping[str, Any] | None = None,
    slo: Slo | float | None = None,
    limits: Limits | tuple[int, int] | None = None,
    kafka: Mapping[str, Any] | str | None = None,
    journal: Path | str | None = None,
    loop: LoopOptions | None = None,
    guards: GuardOptions | None = None,
    placement: str = "auto",
    standby: int = 0,
    shares: str = "count",
    free_nodes: bool = True,
    retention: JournalOptions | None = None,
    agent: str | int = "",
    replace: bool = False,
    price: float = 0.0,
) -> Settings:
    """Return settings of what a user may write; raises BadInput for what cannot be used.

    ``policy`` is a registered name, with ``parameters`` of its own, or an object with ``decide``.
    ``slo`` is the latency objective in seconds (default 10). ``limits`` are the least and the most
    executors (default 1 and 8, or what is there where that is more). ``kafka`` is ``host:port`` or
    a client configuration with ``bootstrap.servers``: the lag is then asked of the broker, also
    while a batch runs; without it the lag comes from the progress of finished batches. ``journal``
    is a folder, by default one per application in the user's state folder; one on a file system of
    Hadoop's (``hdfs://``, ``s3a://``) outlives the driver's computer: it is kept locally and
    brought there beside the ticks. ``loop`` is how often
    and how carefully, ``guards`` which further rules hold, ``retention`` how much of the journal is
    kept.

    ``placement`` says whether state partitions move with the executors: ``auto`` where a soak has
    allowed it (``placement_soaks.py``), ``force`` wherever this Spark can, ``off`` never.
    ``shares`` is how they are shared out: ``count`` (even numbers), ``bytes`` (even bytes in the
    checkpoint, for skewed state) or ``ranges`` (contiguous, Flink's rule). ``free_nodes``: of
    executors with as much state one on the node with the fewest executors leaves first, so that
    nodes become empty. ``standby`` executors are kept above the target, warm and without state,
    never beyond the ceiling, once all that was asked for is there. They take the state of a
    scale-out at once; they are paid for like the others, and count neither in
    ``Observation.executors`` nor in the budget. ``agent`` is a port, or ``host:port``, at which the
    application can be asked and told over HTTP (an operator does). ``replace`` ends another
    autoscaler that already sizes this application; without it a second one is refused. ``price`` is
    the price of a slot-hour, in which ``rheostat status`` and ``savings`` show what was saved.
    """
    return Settings(
        policy=policy,
        parameters={} if parameters is None else parameters,
        slo=slo if isinstance(slo, Slo) else Slo() if slo is None else Slo(latency_s=slo),
        limits=_limits(limits),
        limits_given=limits is not None,
        kafka={_SERVERS: kafka} if isinstance(kafka, str) else kafka,
        journal=_folder(journal),
        loop=LoopOptions() if loop is None else loop,
        guards=GuardOptions() if guards is None else guards,
        state=StateOptions(
            placement=placement, standby=standby, shares=shares, free_nodes=free_nodes
        ),
        retention=JournalOptions() if retention is None else retention,
        agent=AgentOptions(agent=str(agent) if isinstance(agent, int) else agent),
        replace=replace,
        price=price,
    )


def _limits(given: Limits | tuple[int, int] | None) -> Limits:
    if given is None or isinstance(given, Limits):
        return given or Limits()
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise BadInput(
            f"limits= must be the least and the most executors, as (1, 8), but it is {given!r}"
        )
    return Limits.between(*given)


def _folder(given: Path | str | None) -> Path | str | None:
    if given is None or isinstance(given, Path):
        return given
    if not isinstance(given, str) or not given:
        raise BadInput(f"journal= must be a folder, but it is {given!r}")
    return local_or_far(given)


def local_or_far(given: str) -> Path | str:
    """Return the path of a local folder (``file://`` too), and the name of any other as it is."""
    scheme = _SCHEME.match(given)
    if scheme is None:
        return Path(given)
    return Path(urlsplit(given).path) if scheme[1] == "file" else given


def _check_policy(policy: object, parameters: Mapping[str, Any]) -> None:
    decide = "decide(observation, memory)"
    if isinstance(policy, type):
        raise BadInput(
            f"policy= must be a name or an object, but it is the class {policy.__name__}; make one:"
            f" policy={policy.__name__}(...)"
        )
    if not callable(getattr(policy, "decide", None)):
        raise BadInput(
            f"policy= must be a name or an object with {decide}, but {policy!r:.80} has none"
        )
    if parameters:
        raise BadInput(
            f"parameters= ({', '.join(map(str, parameters))}) are for a policy by name; give them"
            f" to {type(policy).__name__} itself"
        )


def _check_price(price: object) -> None:
    is_number = isinstance(price, int | float) and not isinstance(price, bool)
    if not (is_number and 0 <= price < math.inf):  # type: ignore[operator]
        raise BadInput(
            f"price= must be the price of a slot-hour, such as 0.05, but it is {price!r}"
        )


def _check_kafka(kafka: object) -> None:
    """Raise BadInput for what is no client configuration; its names and values are checked by the
    client itself, where there is one.
    """
    if not isinstance(kafka, Mapping):
        raise BadInput(
            f"kafka= must be 'host:port' or a mapping with 'bootstrap.servers', but it is {kafka!r}"
        )
    servers = kafka.get(_SERVERS)
    if servers is None:
        names = ", ".join(map(str, kafka)) or "nothing"
        raise BadInput(f"kafka= needs '{_SERVERS}', but it has {names}")
    if not isinstance(servers, str) or not servers.strip():
        raise BadInput(f"kafka='s {_SERVERS} must be 'host:port', but it is {servers!r}")
    try:
        from rheostat.kafka.offsets import check
    except ImportError:
        return
    check(kafka)
