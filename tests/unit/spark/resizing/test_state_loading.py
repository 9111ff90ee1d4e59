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
        self.requests: list[Mapping[str, float]] = []

    def begin(self, sent: Mapping[Unit, str]) -> None:
        self.begun += 1

    def room(self, pauses_s: Mapping[str, float]) -> tuple[float, float] | None:
        self.requests.append(pauses_s)
        return self.room_s


def loading(queries: Any, preload: Any) -> StateLoading:
    return StateLoading(queries, preload, slo_s=10.0)


def test_state_is_loaded_in_pauses_that_are_long_enough():
    queries, preload = Queries(), Preload((2.0, 0.1))
    state_loading = loading(queries, preload)
    assert state_loading.room({"q"}, growing=True, cold=True) == LoadRoom(2.0, 0.1, in_pause=True)
    queries.end_batch(1.0)
    state_loading.room({"q"}, growing=True, cold=True)
    assert preload.requests == [{}, {"q": 2.0}]


@pytest.mark.parametrize("preload", [None, Preload()])
def test_otherwise_batches_load_state_and_the_load_time_is_learned(preload):
    queries = Queries()
    state_loading = loading(queries, preload)
    for batch_s, sent in ((1.0, {}), (1.3, {("q", 0): "1", ("q", 1): "1", ("q", 2): "2"})):
        if sent:
            state_loading.begin(sent, seasoned={"1", "2"})
        queries.end_batch(batch_s)
        state_loading.note(["q"])
    room = state_loading.room({"q"}, growing=True, cold=False)
    assert room == pytest.approx(LoadRoom(OUT_SHARE, 0.15, in_pause=False))


def test_the_first_load_of_an_executor_is_not_measured():
    queries, preload = Queries(), Preload()
    state_loading = loading(queries, preload)
    queries.end_batch(1.0)
    state_loading.note(["q"])
    state_loading.begin({("q", 0): "1"}, seasoned=())
    queries.end_batch(4.0)
    state_loading.note(["q"])
    assert preload.begun == 1
    assert state_loading.room({"q"}, growing=True, cold=False).load_s is None
