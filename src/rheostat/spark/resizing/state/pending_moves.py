"""Moves of state that wait for a batch boundary of their query."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rheostat.state.units import Unit


class PendingMoves:
    """Keeps units with the executors that they are to go to until their query has ended a batch; of
    two moves of a unit the later counts.
    """

    def __init__(self) -> None:
        self._to: dict[Unit, str] = {}

    def __bool__(self) -> bool:
        return bool(self._to)

    @property
    def runs(self) -> set[str]:
        """The runs of queries whose boundary is waited for."""
        return {unit[0] for unit in self._to}

    def add(self, units: Mapping[Unit, str]) -> None:
        """Let units wait."""
        self._to.update(units)

    def take(self, passed: Collection[str], lost: Collection[Unit] = ()) -> dict[Unit, str]:
        """Return what waits no longer: the units of queries that have ``passed`` a boundary, and
        those that are ``lost`` with their executor, which wait for none.
        """
        # A unit whose holder is gone is open nowhere, so no running batch can claim it back.
        taken = {unit: to for unit, to in self._to.items() if unit[0] in passed or unit in lost}
        self._to = {unit: to for unit, to in self._to.items() if unit not in taken}
        return taken

    def keep(self, running: Collection[str]) -> None:
        """Drop the moves of queries that have ended."""
        self._to = {unit: to for unit, to in self._to.items() if unit[0] in running}
