"""The arguments of ``attach`` and ``shadow``, checked by name with a suggestion for a wrong one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import Limits
from rheostat.spark.settings.conf_settings import keys

_BOUNDS = {
    **dict.fromkeys(("min", "minimum", "min_executors", "minExecutors"), "min_executors"),
    **dict.fromkeys(("max", "maximum", "max_executors", "maxExecutors"), "max_executors"),
}
_GROUPS = {"loop": "LoopOptions", "guards": "GuardOptions", "retention": "JournalOptions"}


def check_arguments(
    call: str, known: Collection[str], positional: tuple[Any, ...], given: Mapping[str, Any]
) -> None:
    """Raise BadInput where ``call`` does not take an argument: the message names the right one."""
    if positional:
        raise BadInput(
            f"{call} takes only the session by position, but it got {positional[0]!r:.60} too;"
            f" name the argument, as {call}(spark, policy='predictive')"
        )
    unknown = [name for name in given if name not in known]
    if unknown:
        hint = _right_argument(unknown[0], known, given)
        raise BadInput(f"{call} has no argument {unknown[0]!r}{hint}")


def _right_argument(name: str, known: Collection[str], given: Mapping[str, Any]) -> str:
    if name in _BOUNDS:
        bounds = {_BOUNDS[key]: value for key, value in given.items() if key in _BOUNDS}
        low = bounds.get("min_executors", Limits().min_executors)
        return f"; use limits=({low!r}, {bounds.get('max_executors', Limits().max_executors)!r})"
    for key in keys():
        if key.argument in _GROUPS and key.part == name:
            group = _GROUPS[key.argument]
            return f"; use {key.argument}=rheostat.{group}({name}={given[name]!r})"
    similar = get_close_matches(name, known, 1)
    return f"; did you mean {similar[0]}=?" if similar else f"; it has {', '.join(known)}"
