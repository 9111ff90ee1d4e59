"""The actions of the operator, one value each."""

from __future__ import annotations

from dataclasses import dataclass

from rheostat.control.sizing import Sizing


@dataclass(frozen=True, slots=True)
class Adopt:
    """Write the effective size to the scale sub-resource."""

    replicas: int


@dataclass(frozen=True, slots=True)
class SendSizing:
    """Send the sizing to the driver, which moves state and scales if live scaling is possible."""

    sizing: Sizing


@dataclass(frozen=True, slots=True)
class Drain:
    """Let the driver's queries end at a batch boundary."""

    uid: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Delete the driver's pod with this UID, and no other of the same name."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Start:
    """Create the driver's pod; an existing pod of this incarnation counts as created."""

    incarnation: int
    size: int


@dataclass(frozen=True, slots=True)
class Clear:
    """Delete the pod of an ended driver that has a successor; ``end`` is how it ended."""

    name: str
    uid: str
    end: str


Action = Adopt | SendSizing | Drain | Stop | Start | Clear
