from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes import RecordingActuator

from rheostat.errors import BadInput
from rheostat.guards import standard_guards
from rheostat.journal.folder import FolderJournal, read
from rheostat.loop import Loop
from rheostat.model import Capabilities, Decision, Limits, Observation, Record
from rheostat.ports import Sensor
from rheostat.spark.handle import Handle
from rheostat.spark.journaling.journals import SessionJournal

TICK_S = 0.002


class Job(Sensor):
    """Observes one executor at every tick, or fails to observe."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.ticks = threading.Semaphore(0)

    def observe(self, now: float) -> list[Observation]:
        self.ticks.release()
        if self.fails:
            raise OSError("the session has gone")
        return [Observation(t_s=now, executors=1)]


class Two:
    def decide(self, observation, memory):
        return Decision(target=2, reason="two"), memory


def nothing() -> None:
    pass


class Watched(SessionJournal):
    """A journal without tasks, whose end is observed."""

    def __init__(self, journal: FolderJournal, close: Callable[[], None]) -> None:
        super().__init__(journal, {}, TICK_S)
        self._close = close

    def close(self) -> None:
        super().close()
        self._close()


def handle_of(
    folder: Path,
    job: Job,
    ended: Callable[[], bool] = lambda: False,
    close: Callable[[], None] = nothing,
) -> tuple[Handle, RecordingActuator]:
    actuator, journal = RecordingActuator(), FolderJournal(folder)
    loop = Loop(
        sensor=job,
        policy=Two(),
        guards=standard_guards(Limits()),
        actuator=actuator,
        journal=journal,
    )
    return (
        Handle(
            loop,
            Watched(journal, close),
            capabilities=Capabilities(can_scale=True),
            ended=ended,
            summary="policy two, 1 to 8 executors, objective 10 s",
        ),
        actuator,
    )


def wait_for_ticks(job: Job, times: int) -> None:
    for _ in range(times):
        assert job.ticks.acquire(timeout=60)


def has_ended(handle: Handle) -> bool:
    """Wait for the loop's own end; the limit of a minute only detects failures."""
    assert handle._thread is not None
    handle._thread.join(timeout=60)
    return not handle.running


def test_the_loop_runs_until_it_is_stopped_and_journals_every_tick(tmp_path):
    job = Job()
    watched: list[Record] = []
    handle, actuator = handle_of(tmp_path, job)
    handle.watch(watched.append)
    assert not handle.running
    handle.start(TICK_S)
    wait_for_ticks(job, 3)
    assert handle.running
    handle.stop()
    assert not handle.running
    records = list(read(handle.journal))
    assert len(records) == len(actuator.requests) >= 3
    assert watched == records
    assert handle.last == records[-1]
    requests = len(actuator.requests)
    handle.stop()
    assert len(actuator.requests) == requests


def test_a_stop_file_halts_the_loop_until_it_is_resumed(tmp_path, caplog):
    job = Job()
    handle, actuator = handle_of(tmp_path, job)
    handle.start(TICK_S)
    wait_for_ticks(job, 1)
    halted, resumed = threading.Event(), threading.Event()

    def note(record: Record) -> None:
        if record.rescaling.phase == "halted":
            halted.set()
        elif halted.is_set():
            resumed.set()

    handle.watch(note)
    (handle.journal / "STOP").touch()
    assert halted.wait(60)
    assert handle.running
    assert handle.halted == str(handle.journal / "STOP")
    decided = len(actuator.requests)
    wait_for_ticks(job, 3)
    assert len(actuator.requests) == decided
    handle.resume()
    assert resumed.wait(60)
    handle.stop()
    first, *_, last = (message for message in caplog.messages if message.startswith("rheostat: "))
    assert first.startswith("rheostat: halted since")
    assert first.endswith("the query keeps running")
    assert last.startswith("rheostat: resumed, halted since")


@pytest.mark.parametrize(
    "fails", [False, True], ids=["in good order", "in a way that our calls fail"]
)
def test_the_loop_ends_with_the_application_in_any_case(tmp_path, fails):
    job, ended = Job(fails), threading.Event()
    handle, _ = handle_of(tmp_path, job, ended.is_set)
    handle.start(TICK_S)
    wait_for_ticks(job, 2)
    assert handle.running
    ended.set()
    assert has_ended(handle)


@pytest.mark.parametrize("fault", [False, True])
def test_the_tasks_of_the_journal_are_ended_when_the_loop_ends(tmp_path, fault):
    closed = threading.Event()

    def close() -> None:
        closed.set()
        if fault:
            raise OSError("the session has gone")

    handle, _ = handle_of(tmp_path, Job(), close=close)
    handle.start(TICK_S)
    assert not closed.is_set()
    handle.stop()
    assert closed.is_set()


def test_a_watcher_can_stop_the_loop(tmp_path):
    handle, _ = handle_of(tmp_path, Job())

    def stop(record: Record) -> None:
        handle.stop()

    handle.watch(stop)
    handle.start(TICK_S)
    assert has_ended(handle)
    assert len(list(read(handle.journal))) == 1


def test_a_handle_prints_as_a_line_and_as_a_card(tmp_path):
    handle, _ = handle_of(tmp_path, Job())
    assert repr(handle).startswith("<rheostat autoscaler: not started; policy two, 1 to 8")
    handle.watch(lambda _: handle.stop())
    handle.start(TICK_S)
    assert has_ended(handle)
    assert str(handle.last) == "1 -> 2 executors (steady): two"
    assert repr(handle) == (
        "<rheostat autoscaler: stopped; policy two, 1 to 8 executors, objective 10 s; "
        f"{handle.last}; {tmp_path}>"
    )
    card = handle._repr_html_()
    assert "1 -&gt; 2 executors" in card
    assert "wanted 2: two" in card


def test_a_record_without_a_decision_prints_what_is_known(tmp_path):
    job = Job(fails=True)
    handle, _ = handle_of(tmp_path, job)
    handle.halt()
    handle.start(TICK_S)
    wait_for_ticks(job, 2)
    handle.stop()
    text = str(handle.last)
    assert text.startswith("unknown number of executors (halted since 2")
    assert text.endswith("STOP); the query keeps running)")


def test_only_a_function_can_watch(tmp_path):
    handle, _ = handle_of(tmp_path, Job())
    with pytest.raises(BadInput, match=r"watch needs a function of a record.*, but it got 5"):
        handle.watch(5)  # type: ignore[arg-type]
