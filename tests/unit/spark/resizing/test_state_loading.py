from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from rheostat.signals.rhythm import BatchTime, Rhythm
from rheostat.spark.resizing.state_loading import OUT_SHARE, LoadRoom, StateLoading
from rheostat.state.assignment import Unit


class Queries:
    """Queries whose batches end on request."""

    def __init__(self) -> None:
        self.rhythms = {"q": Rhythm(trigger_s=3.0)}
        self.moving: set[str] = set()

    def rhythm(self, run_id: str) -> Rhythm:
        return self.rhythms[run_id]

    def moves(self, run_id: str) -> None:
        self.moving.add(run_id)

    def end_batch(self, batch_s: float) -> None:
        known = self.rhythms["q"]
        number = known.last.number + 1 if known.last else 0
        moved = bool(self.moving)
        self.rhythms["q"] = known.after(BatchTime(number, 0.0, batch_s), moved)
        self.moving.clear()


class Preload:
    """Loads in pauses if it has ``room_s``."""

    def __init__(self, room_s: tuple[float, float] | None = None) -> None:
        self.room_s, self.begun = room_s, 0
        self.asked: list[Mapping[str, float]] = []

    def begin(self, sent: Mapping[Unit, str]) -> None:
        self.begun += 1

    def room(self, pauses_s: Mapping[str, float]) -> tuple[float, float] | None:
        self.asked.append(pauses_s)
        return self.room_s


def loading(queries: Any, preload: Preload | None) -> StateLoading:
    return StateLoading(queries, preload, slo_s=10.0)


def test_where_pauses_have_room_state_loads_there():
    queries, preload = Queries(), Preload((2.0, 0.1))
    one = loading(queries, preload)
    assert one.room({"q"}, growing=True, cold=True) == LoadRoom(2.0, 0.1, in_pause=True)
    queries.end_batch(1.0)
    one.room({"q"}, growing=True, cold=True)
    assert preload.asked == [{}, {"q": 2.0}]


@pytest.mark.parametrize("preload", [None, Preload()])
def test_else_the_batches_load_it_and_what_a_unit_takes_is_learnt(preload):
    queries = Queries()
    one = loading(queries, preload)
    for batch_s, sent in ((1.0, {}), (1.3, {("q", 0): "1", ("q", 1): "1", ("q", 2): "2"})):
        if sent:
            one.begin(sent, seasoned={"1", "2"})
        queries.end_batch(batch_s)
        one.note(["q"])
    room = one.room({"q"}, growing=True, cold=False)
    assert room == pytest.approx(LoadRoom(OUT_SHARE, 0.15, in_pause=False))


def test_the_first_load_of_an_executor_tells_nothing():
    queries, preload = Queries(), Preload()
    one = loading(queries, preload)
    queries.end_batch(1.0)
    one.note(["q"])
    one.begin({("q", 0): "1"}, seasoned=())
    queries.end_batch(4.0)
    one.note(["q"])
    assert preload.begun == 1
    assert one.room({"q"}, growing=True, cold=False).load_s is None
