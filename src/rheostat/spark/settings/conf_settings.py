"""Rheostat's settings in Spark's configuration: ``spark.rheostat.*``, made from the arguments of
``settings_of`` and the option groups, so that each has one name, one default and one help.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from typing import Any, get_args, get_type_hints

from rheostat.config import WANTED, AgentOptions, GuardOptions, LoopOptions, StateOptions
from rheostat.errors import BadInput
from rheostat.guards import guards_of
from rheostat.model import Limits, Slo
from rheostat.policies.default_policy import DEFAULT_POLICY
from rheostat.policies.parameters import parsed_bool
from rheostat.policies.registry import create, wrong_parameters
from rheostat.spark.settings.sizing_settings import settings_of

PREFIX = "spark.rheostat."
INTERNAL = f"{PREFIX}internal."
"""What Rheostat tells itself in a session that it starts (``warm_start.py``): no setting of a
user."""

_POLICY, _KAFKA, _SERVERS = "policy", "kafka", "bootstrap.servers"


@dataclass(frozen=True, slots=True)
class Key:
    """A setting: its name after the prefix, the argument of ``settings_of`` that it is or is a part
    of, its default and help. An ``open`` key is a family: any name may follow its own. ``field`` is
    that of an option group.
    """

    name: str
    argument: str
    default: Any
    help: str
    open: bool = False
    field: str = ""

    @property
    def part(self) -> str:
        """The field of an option group, or nothing."""
        return self.field or self.name.partition(".")[2]


_OWN = (
    Key(_POLICY, _POLICY, DEFAULT_POLICY, "policy by name, or your own as module:Class"),
    Key("policy.", "parameters", "", "a parameter of that policy, as policy.factor", open=True),
    Key("slo", "slo", Slo().latency_s, "latency objective in seconds"),
    Key("limits.min", "limits", Limits().min_executors, "floor of the number of executors"),
    Key("limits.max", "limits", Limits().max_executors, "ceiling of the number of executors"),
    Key(_KAFKA, _KAFKA, "", "ask Kafka for the lag: host:port"),
    Key(
        "kafka.",
        _KAFKA,
        "",
        "a setting of Kafka's client as librdkafka calls it, as kafka.security.protocol",
        open=True,
    ),
    Key(
        "journal",
        "journal",
        "",
        "folder of the journal, also hdfs:// or s3a://; default: in the user's state folder",
    ),
    Key("price", "price", 0.0, "price of a slot-hour, in which savings are shown; 0: none"),
    Key("replace", "replace", False, "end another autoscaler of this application"),
)
_HELP = {
    option.name: option.metadata["help"]
    for group in (StateOptions, AgentOptions)
    for option in fields(group)
}


def keys() -> tuple[Key, ...]:
    """Return all settings in the order of the arguments of ``settings_of``."""
    return tuple(_keys())


def _keys() -> Iterator[Key]:
    hints, own = get_type_hints(settings_of), {key.argument for key in _OWN}
    yield from _OWN
    for name, parameter in inspect.signature(settings_of).parameters.items():
        group = next(filter(is_dataclass, get_args(hints[name])), None)
        if name in own:
            continue
        if group is None:
            yield Key(name, name, parameter.default, _HELP.get(name, ""))
            continue
        for option in fields(group):
            key = option.metadata.get("setting") or f"{name}.{option.name}"
            yield Key(key, name, option.default, option.metadata["help"], field=option.name)


def arguments_of(conf: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of ``settings_of`` that a Spark configuration names; nothing where it
    has no ``spark.rheostat.*``.

    Raises BadInput with everything that is wrong, a line each: an unknown key with the nearest
    right one, a value of the wrong kind or out of range, a policy that cannot be made.
    """
    values = {
        name.removeprefix(PREFIX): str(text).strip()
        for name, text in sorted(conf.items())
        if name.startswith(PREFIX) and not name.startswith(INTERNAL)
    }
    wrong: list[str] = []
    parts: dict[str, dict[str, Any]] = {}
    known = keys()
    for name, text in values.items():
        key = _find(name, known)
        if key is None:
            wrong.append(_unknown(name, known))
            continue
        try:
            part = name.removeprefix(key.name) if key.open else key.part
            parts.setdefault(key.argument, {})[part] = _value(key, name, text)
        except BadInput as fault:
            wrong.append(str(fault))
    arguments = {name: _made(name, values, wrong) for name, values in parts.items()}
    _check_policy(arguments, wrong)
    if not wrong and arguments:
        _tried("", lambda: settings_of(**arguments), wrong)
    if wrong:
        raise BadInput("\n".join(wrong))
    return arguments


def over(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a configuration with those of a call, which win; who names a policy
    there names its parameters, too.
    """
    left_out = ("policy", "parameters") if _POLICY in given else ()
    return {**{name: value for name, value in defaults.items() if name not in left_out}, **given}


def _find(name: str, known: tuple[Key, ...]) -> Key | None:
    for key in known:
        if name == key.name and not key.open:
            return key
    return next(
        (
            key
            for key in known
            if key.open and len(name) > len(key.name) and name.startswith(key.name)
        ),
        None,
    )


def _unknown(name: str, known: tuple[Key, ...]) -> str:
    near = get_close_matches(_snake(name), [key.name for key in known if not key.open], 1, 0.5)
    hint = f"; did you mean {PREFIX}{near[0]}?" if near else ""
    return f"{PREFIX}{name} is no setting of Rheostat{hint}"


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _value(key: Key, name: str, text: str) -> Any:
    kind = type(key.default)
    try:
        made = parsed_bool(text) if kind is bool else kind(text)
    except ValueError:
        made = math.nan
    if isinstance(made, float) and not math.isfinite(made):
        wanted = "true or false" if kind is bool else WANTED[kind]
        raise BadInput(f"{PREFIX}{name} must be {wanted}, but it is {text!r}")
    return made


def _made(name: str, parts: dict[str, Any], wrong: list[str]) -> Any:
    """Return an argument of its parts, each of which is tried by itself."""
    if name == "parameters":
        return parts
    if name == "limits":
        usual = Limits()
        low = parts.get("min", usual.min_executors)
        high = parts.get("max", max(low, usual.max_executors))
        _tried(f"{PREFIX}limits: ", lambda: Limits.between(low, high), wrong)
        return low, high
    if name == _KAFKA:
        client = {part or _SERVERS: text for part, text in parts.items()}
        _tried(f"{PREFIX}{_KAFKA}: ", lambda: settings_of(kafka=client), wrong)
        return client
    if "" in parts:
        value = parts[""]
        if name != _POLICY:
            _tried(f"{PREFIX}{name}: ", lambda: settings_of(**{name: value}), wrong)
        return value
    kind = next(filter(is_dataclass, get_args(get_type_hints(settings_of)[name])))
    return _group(kind, name, parts, wrong)


def _group(kind: Any, name: str, parts: dict[str, Any], wrong: list[str]) -> Any:
    before, names = len(wrong), {key.part: key.name for key in keys() if key.argument == name}
    for part, value in parts.items():

        def alone(part: str = part, value: Any = value) -> None:
            made = kind(**{part: value})
            if isinstance(made, GuardOptions):
                guards_of(Limits(), made, LoopOptions())

        _tried(f"{PREFIX}{names[part]}: ", alone, wrong)
    return kind(**parts) if len(wrong) == before else None


def _check_policy(arguments: dict[str, Any], wrong: list[str]) -> None:
    policy, given = arguments.get(_POLICY), arguments.get("parameters", {})
    if policy is None:
        wrong += [
            f"{PREFIX}policy.{name} is a parameter of a policy, but {PREFIX}policy names none"
            for name in given
        ]
        return
    if _tried(f"{PREFIX}policy: ", lambda: create(policy, given), []):
        return
    for fault in wrong_parameters(policy, given):
        wrong.append(f"{PREFIX}policy: {fault}")


def _tried(head: str, make: Callable[[], Any], wrong: list[str]) -> bool:
    try:
        make()
    except BadInput as fault:
        wrong.append(f"{head}{fault}")
        return False
    return True
