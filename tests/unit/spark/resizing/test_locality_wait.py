from __future__ import annotations

from dataclasses import dataclass

import pytest

from rheostat.spark.resizing.locality import COLD_S, SHORT, LocalityWait


class Waits:
    """The successive values of ``spark.locality.wait``; None is the application's own value."""

    def __init__(self) -> None:
        self.values: list[str | None] = []

    def set(self, wait: str | None) -> bool:
        self.values.append(wait)
        return True


@dataclass
class Stateful:
    """Queries with or without state."""

    stateful: bool


def test_the_wait_is_short_from_a_change_until_new_executors_are_warm():
    waits = Waits()
    locality_wait = LocalityWait(waits.set, lambda: False)
    for now, changing in (
        (0.0, False),
        (5.0, True),
        (10.0, True),
        (10.0 + COLD_S - 1, False),
        (10.0 + COLD_S, False),
        (90.0, False),
    ):
        locality_wait.tick(changing, now)
        assert waits.values[-1:] == ([] if now == 0 else [SHORT] if now < 10 + COLD_S else [None])
    assert waits.values == [SHORT, None]


def test_with_state_the_applications_wait_is_kept():
    waits = Waits()
    LocalityWait(waits.set, lambda: True).tick(True, 5.0)
    assert waits.values == []


def test_state_that_appears_ends_the_short_wait():
    waits, queries = Waits(), Stateful(False)
    locality_wait = LocalityWait(waits.set, lambda: queries.stateful)
    locality_wait.tick(True, 5.0)
    queries.stateful = True
    locality_wait.tick(True, 6.0)
    assert waits.values == [SHORT, None]


@pytest.mark.parametrize(("changing", "values"), [(True, [SHORT, None]), (False, [])])
def test_the_applications_wait_is_restored_at_the_end(changing, values):
    waits = Waits()
    locality_wait = LocalityWait(waits.set, lambda: False)
    locality_wait.tick(changing, 5.0)
    locality_wait.restore()
    locality_wait.restore()
    assert waits.values == values
