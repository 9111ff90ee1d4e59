"""Settings that a session gets before it starts: what is wanted, what the user has made, and what
comes of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wanted:
    """A value that Rheostat would set, and why.

    ``joins`` is what separates the parts of a value that can have several authors, such as a class
    path: the user's part then stays, after ours.
    """

    value: str
    why: str
    joins: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """A value that the user has set, and where: a file, a variable, the script."""

    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class Merged:
    """A setting that is wanted, with the value that holds.

    ``origin`` is where the user has set it, None where only Rheostat has; ``sets`` whether Rheostat
    sets it.
    """

    name: str
    value: str
    why: str
    wanted: str
    origin: str | None
    sets: bool


def merged(wanted: Mapping[str, Wanted], given: Mapping[str, Given]) -> tuple[Merged, ...]:
    """Return every setting that is wanted with the value that holds: the user's wherever there is
    one.
    """
    return tuple(_merged(name, item, given.get(name)) for name, item in wanted.items())


def _merged(name: str, wanted: Wanted, given: Given | None) -> Merged:
    if given is None:
        return Merged(name, wanted.value, wanted.why, wanted.value, None, True)
    if wanted.joins:
        both = f"{wanted.value}{wanted.joins}{given.value}" if given.value else wanted.value
        return Merged(name, both, wanted.why, wanted.value, given.origin, True)
    return Merged(name, given.value, wanted.why, wanted.value, given.origin, False)
