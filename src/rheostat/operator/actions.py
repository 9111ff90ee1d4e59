"""What the operator may do: one value each."""

from __future__ import annotations

from dataclasses import dataclass

from rheostat.control.sizing import Sizing


@dataclass(frozen=True, slots=True)
class Adopt:
    """Write the size in force into the scale sub-resource."""

    replicas: int


@dataclass(frozen=True, slots=True)
class Tell:
    """Send the driver its sizing; where live scaling is possible, it moves state and scales."""

    sizing: Sizing


@dataclass(frozen=True, slots=True)
class Drain:
    """Let the driver's queries end between two batches."""

    uid: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Delete the driver's pod, this one and no other of its name."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Start:
    """Create the driver's pod; one of that number that is there already is the same."""

    incarnation: int
    size: int


@dataclass(frozen=True, slots=True)
class Clear:
    """Delete the pod of a driver that has ended and has a successor; ``end`` is how it ended."""

    name: str
    uid: str
    end: str


Action = Adopt | Tell | Drain | Stop | Start | Clear
