"""The settings of an application: one ``Settings`` value, merged from the defaults, Spark's
configuration, the arguments of a call and the options of a command line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rheostat.config import (
    PRIORITY_HELP,
    SLO_HELP,
    WANTED,
    ExportOptions,
    GuardOptions,
    JournalOptions,
    LoopOptions,
    ServeOptions,
    StateOptions,
)
from rheostat.errors import BadInput
from rheostat.guards import Guard, guards_of
from rheostat.kafka.client import check_client
from rheostat.model import Limits, Slo
from rheostat.policies.default_policy import DEFAULT_POLICY
from rheostat.policies.parameters import parsed_bool
from rheostat.policies.registry import check_policy_object, create, wrong_parameters
from rheostat.ports import Policy
from rheostat.signals.application import priorities
from rheostat.storage.file_system import is_remote, local_path

PREFIX = "spark.rheostat."
INTERNAL = f"{PREFIX}internal."
"""Settings that Rheostat passes to a session that it starts (``warm_start.py``); not for users."""

_POLICY, _PARAMETERS, _KAFKA, _SERVERS = "policy", "parameters", "kafka", "bootstrap.servers"
_T = TypeVar("_T")
GROUPS = {
    "loop": LoopOptions,
    "guards": GuardOptions,
    "retention": JournalOptions,
    "export": ExportOptions,
}
"""The arguments that are groups of options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of an application; ``rheostat.attach`` documents each value.

    ``built_policy`` and ``built_guards`` follow from the other values and are built here, so that
    invalid values fail early. A ``journal`` that is a string is a folder on a Hadoop file system.
    Without ``limits_given`` the maximum is a default, which rises to the number of executors at the
    start. With ``releases`` (``min=0``) no executors are kept between runs, and the minimum of
    ``limits``, which are those of a run, is 1. ``restarts`` is the folder of the control channel to
    a supervisor that restarts the job; None if the size is changed live. Raises BadInput for
    invalid values.
    """

    policy: str | Policy = DEFAULT_POLICY
    parameters: Mapping[str, Any] = field(default_factory=dict)
    slo: Slo = field(default_factory=Slo)
    priority: Mapping[str, float] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    limits_given: bool = False
    releases: bool = False
    kafka: Mapping[str, Any] | None = None
    journal: Path | str | None = None
    loop: LoopOptions = field(default_factory=LoopOptions)
    guards: GuardOptions = field(default_factory=GuardOptions)
    state: StateOptions = field(default_factory=StateOptions)
    retention: JournalOptions = field(default_factory=JournalOptions)
    serve: ServeOptions = field(default_factory=ServeOptions)
    export: ExportOptions = field(default_factory=ExportOptions)
    replace: bool = False
    price: float = 0.0
    restarts: Path | None = None
    built_policy: Policy = field(init=False, repr=False, compare=False)
    built_guards: tuple[Guard, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.parameters, Mapping):
            raise BadInput(
                f"parameters= must be a mapping of names to values, but it is {self.parameters!r}"
            )
        if not isinstance(self.policy, str):
            check_policy_object(self.policy, self.parameters)
        for name, kind in (*GROUPS.items(), ("replace", bool)):
            if not isinstance(getattr(self, name), kind):
                raise BadInput(
                    f"{name}= must be of type {kind.__name__}, but it is {getattr(self, name)!r}"
                )
        _check_price(self.price)
        if self.kafka is not None:
            check_client(self.kafka)
        policy = self.policy
        if isinstance(policy, str):
            policy = create(policy, self.parameters, self.slo)
        guards = guards_of(self.limits, self.guards, self.loop, not self.limits_given)
        object.__setattr__(self, "built_policy", policy)
        object.__setattr__(self, "built_guards", guards)

    @property
    def policy_name(self) -> str:
        """The policy's name."""
        return self.policy if isinstance(self.policy, str) else type(self.policy).__name__

    @property
    def least_executors(self) -> int:
        """The minimum as it was given: 0 if no executors are kept between runs."""
        return 0 if self.releases else self.limits.min_executors

    @property
    def summary(self) -> str:
        """Policy, limits and objective in one phrase."""
        return (
            f"policy {self.policy_name}, {self.least_executors} to {self.limits.max_executors}"
            f" executors, objective {self.slo}"
        )


def merge(
    defaults: Mapping[str, Any] | None = None,
    conf: Mapping[str, str] | None = None,
    arguments: Mapping[str, Any] | None = None,
    cli: Mapping[str, Any] | None = None,
) -> Settings:
    """Return the settings of an application; a later layer overrides an earlier one.

    ``defaults`` are the arguments that differ for a kind of application, ``conf`` is Spark's
    configuration, ``arguments`` are those of ``attach`` (None: not given), and ``cli`` are the
    options of a command line, in which ``limits`` and groups may be partial mappings. A layer that
    names a policy also determines its parameters. Raises BadInput for invalid values.
    """
    merged = _over({**(defaults or {}), **conf_arguments(conf or {})}, arguments or {})
    return settings_of(**_over(merged, _completed(cli or {}, merged)))


def settings_of(**arguments: Any) -> Settings:
    """Return the settings for the arguments of ``attach``; raises BadInput for invalid values."""
    given = {name: value for name, value in arguments.items() if value is not None}
    if "limits" in given:
        given |= {**_limits(given["limits"]), "limits_given": True}
    if "slo" in given:
        given["slo"] = Slo.of(given["slo"])
    if "priority" in given:
        given["priority"] = priorities(given["priority"])
    if isinstance(given.get(_KAFKA), str):
        given[_KAFKA] = {_SERVERS: given[_KAFKA]}
    if "journal" in given:
        given["journal"] = _folder(given["journal"])
    if isinstance(given.get("serve"), int):
        given["serve"] = str(given["serve"])
    if not isinstance(given.get("serve"), ServeOptions):
        given["serve"] = _pop_group(ServeOptions, given)
    return Settings(state=_pop_group(StateOptions, given), **given)


def _pop_group(group: type[_T], given: dict[str, Any]) -> _T:
    """Return the group built from its options in ``given``, and remove those from ``given``."""
    names = {option.name for option in fields(group)} & given.keys()  # type: ignore[arg-type]
    return group(**{name: given.pop(name) for name in names})


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of both layers; those of ``above`` that are not None override ``below``,
    and a policy of ``above`` drops the parameters of ``below``.
    """
    given = {name: value for name, value in above.items() if value is not None}
    dropped = (_POLICY, _PARAMETERS) if _POLICY in given else ()
    return {**{name: value for name, value in below.items() if name not in dropped}, **given}


def _completed(cli: Mapping[str, Any], below: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a command line; options not given keep the values of ``below``."""
    given = dict(cli)
    for name in GROUPS.keys() & given.keys():
        given[name] = replace(below.get(name, GROUPS[name]()), **given[name])
    if _PARAMETERS in given and _POLICY not in given:
        given[_PARAMETERS] = {**below.get(_PARAMETERS, {}), **given[_PARAMETERS]}
    if "limits" in given:
        usual = Limits()
        low, high = below.get("limits", (usual.min_executors, usual.max_executors))
        given["limits"] = (given["limits"].get("min", low), given["limits"].get("max", high))
    return given


@dataclass(frozen=True, slots=True)
class ConfSetting:
    """A setting ``spark.rheostat.NAME`` with its default and help text: it sets ``argument`` of
    ``attach``, or one ``part`` of it. The name of a ``family`` is a prefix that any name may
    follow.
    """

    name: str
    argument: str
    default: Any
    help: str
    part: str = ""
    family: bool = False


_OWN = (
    ConfSetting(_POLICY, _POLICY, DEFAULT_POLICY, "policy by name, or your own as module:Class"),
    ConfSetting(
        "policy.", _PARAMETERS, "", "a parameter of that policy, as policy.factor", family=True
    ),
    ConfSetting("slo", "slo", "10", SLO_HELP),
    ConfSetting("priority", "priority", "", PRIORITY_HELP),
    ConfSetting(
        "limits.min",
        "limits",
        Limits().min_executors,
        "floor of the number of executors; 0: none between runs",
        "min",
    ),
    ConfSetting(
        "limits.max", "limits", Limits().max_executors, "ceiling of the number of executors", "max"
    ),
    ConfSetting(_KAFKA, _KAFKA, "", "read the lag from Kafka: host:port"),
    ConfSetting(
        "kafka.",
        _KAFKA,
        "",
        "a setting of Kafka's client by librdkafka's name, such as kafka.security.protocol",
        family=True,
    ),
    ConfSetting(
        "journal",
        "journal",
        "",
        "folder of the journal, also hdfs:// or s3a://; default: in the user's state folder",
    ),
    ConfSetting("price", "price", 0.0, "price of a slot-hour, to show savings; 0: none"),
    ConfSetting("replace", "replace", False, "end another autoscaler of this application"),
)


def conf_settings() -> tuple[ConfSetting, ...]:
    """Return all settings ``spark.rheostat.*``; those of a group follow from its fields."""
    grouped = [
        ConfSetting(
            option.metadata.get("setting") or f"{name}.{option.name}",
            name,
            option.default,
            option.metadata["help"],
            option.name,
        )
        for name, group in GROUPS.items()
        for option in fields(group)
    ]
    flat = [
        ConfSetting(option.name, option.name, option.default, option.metadata["help"])
        for group in (StateOptions, ServeOptions)
        for option in fields(group)
    ]
    return (*_OWN, *grouped, *flat)


def conf_arguments(conf: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of ``attach`` that a Spark configuration sets.

    Raises BadInput with one line per error: an unknown name with the nearest valid one, a value of
    the wrong type or out of range, an unusable policy.
    """
    values = {
        name.removeprefix(PREFIX): str(text).strip()
        for name, text in sorted(conf.items())
        if name.startswith(PREFIX) and not name.startswith(INTERNAL)
    }
    wrong: list[str] = []
    parts: dict[str, dict[str, Any]] = {}
    for name, text in values.items():
        try:
            setting = _setting(name)
            part = name.removeprefix(setting.name) if setting.family else setting.part
            parts.setdefault(setting.argument, {})[part] = _value(setting, name, text)
        except BadInput as fault:
            wrong.append(str(fault))
    arguments = {name: _argument(name, values, wrong) for name, values in parts.items()}
    wrong += _policy_faults(arguments)
    if wrong:
        raise BadInput("\n".join(wrong))
    return arguments


def _setting(name: str) -> ConfSetting:
    known = conf_settings()
    for setting in known:
        if name == setting.name and not setting.family:
            return setting
    for setting in known:
        if setting.family and len(name) > len(setting.name) and name.startswith(setting.name):
            return setting
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    near = get_close_matches(snake, [known.name for known in known if not known.family], 1, 0.5)
    hint = f"; did you mean {PREFIX}{near[0]}?" if near else ""
    raise BadInput(f"{PREFIX}{name} is not a setting of Rheostat{hint}")


def _value(setting: ConfSetting, name: str, text: str) -> Any:
    kind = type(setting.default)
    try:
        value = parsed_bool(text) if kind is bool else kind(text)
    except ValueError:
        value = math.nan
    if isinstance(value, float) and not math.isfinite(value):
        wanted = "true or false" if kind is bool else WANTED[kind]
        raise BadInput(f"{PREFIX}{name} must be {wanted}, but it is {text!r}")
    return value


def _argument(name: str, parts: dict[str, Any], wrong: list[str]) -> Any:
    """Return an argument built from its parts; append its errors to ``wrong``."""
    if name == _PARAMETERS:
        return parts
    if name in GROUPS:
        return _group(name, parts, wrong)
    value: Any = parts.get("")
    if name == "limits":
        usual = Limits()
        low = parts.get("min", usual.min_executors)
        value = (low, parts.get("max", max(low, usual.max_executors)))
    elif name == _KAFKA:
        value = {part or _SERVERS: text for part, text in parts.items()}
    if name != _POLICY:
        wrong += _faults(name, name, lambda: value)
    return value


def _group(name: str, parts: dict[str, Any], wrong: list[str]) -> Any:
    """Return a group of options; each is checked alone, so that an error names its setting."""
    names = {setting.part: setting.name for setting in conf_settings() if setting.argument == name}
    faults: list[str] = []
    for part, value in parts.items():
        faults += _faults(names[part], name, partial(GROUPS[name], **{part: value}))
    wrong += faults
    return None if faults else GROUPS[name](**parts)


def _policy_faults(arguments: dict[str, Any]) -> list[str]:
    policy, given = arguments.get(_POLICY), arguments.get(_PARAMETERS, {})
    if policy is None:
        return [
            f"{PREFIX}policy.{name} is a parameter of a policy, but {PREFIX}policy names none"
            for name in given
        ]
    return [f"{PREFIX}policy: {fault}" for fault in wrong_parameters(policy, given)]


def _faults(setting: str, argument: str, value: Callable[[], Any]) -> list[str]:
    """Return the errors of the value of one argument, with defaults for all other arguments."""
    try:
        settings_of(**{argument: value()})
    except BadInput as fault:
        return [f"{PREFIX}{setting}: {fault}"]
    return []


def _limits(given: Any) -> dict[str, Any]:
    """Return the limits of a run, and whether executors are released between runs (``min=0``)."""
    if isinstance(given, Limits):
        return {"limits": given}
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise BadInput(
            f"limits= must be the least and the most executors, as (1, 8), but it is {given!r}"
        )
    low, high = given
    releases = type(low) is int and low == 0
    if releases and high == 0:
        raise BadInput("max executors must be at least 1, but it is 0")
    return {"limits": Limits.between(1 if releases else low, high), "releases": releases}


def _folder(given: Any) -> Path | str:
    if isinstance(given, Path):
        return given
    if not isinstance(given, str) or not given:
        raise BadInput(f"journal= must be a folder, but it is {given!r}")
    return given if is_remote(given) else local_path(given)


def _check_price(price: object) -> None:
    is_number = isinstance(price, int | float) and not isinstance(price, bool)
    if not (is_number and 0 <= price < math.inf):  # type: ignore[operator]
        raise BadInput(
            f"price= must be the price of a slot-hour, such as 0.05, but it is {price!r}"
        )
