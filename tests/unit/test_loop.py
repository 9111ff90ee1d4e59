import logging
import threading
from typing import Any, ClassVar

import pytest
from tests.fakes import RecordingActuator, ScriptedSensor

from rheostat.guards import Cooldown, standard_guards
from rheostat.journal.folder import FolderJournal, MemoryJournal, read
from rheostat.loop import Loop
from rheostat.model import Decision, GuardChange, Limits, Observation, Record, Rescaling


class AskFor:
    """Requests the given sizes in sequence, the last one repeatedly; exceptions are raised
    instead."""

    def __init__(self, *sizes: int | Exception) -> None:
        self.sizes = sizes
        self.memories: list[object] = []

    def decide(self, observation, memory):
        self.memories.append(memory)
        wanted = self.sizes[min(len(self.memories), len(self.sizes)) - 1]
        if isinstance(wanted, Exception):
            raise wanted
        return Decision(target=wanted, reason="asked"), {"calls": memory.get("calls", 0) + 1}


class Failing(RecordingActuator):
    def rescale(self, decision, now):
        super().rescale(decision, now)
        raise OSError("no cluster")


class FullDisk(MemoryJournal):
    def append(self, record, memory):
        raise OSError("disk full")


class UnreadableSwitch(MemoryJournal):
    def halted(self):
        raise OSError("no such disk")


def at(t_s: float, executors: int | None = 3, **signals: object) -> Observation:
    return Observation(t_s=t_s, executors=executors, target=executors, **signals)  # type: ignore[arg-type]


def loop_of(script: Any, policy: Any, actuator: Any = None, journal: Any = None) -> Loop:
    return Loop(
        sensor=ScriptedSensor(script),
        policy=policy,
        guards=standard_guards(Limits(max_executors=6)),
        actuator=actuator or RecordingActuator(),
        journal=journal or MemoryJournal(),
    )


class Ticks(threading.Event):
    """A stop event that never waits and sets itself after some ticks."""

    def __init__(self, ticks: int) -> None:
        super().__init__()
        self.left = ticks

    def wait(self, timeout=None):
        self.left -= 1
        if self.left <= 0:
            self.set()
        return self.is_set()


class Now(ScriptedSensor):
    """Observes three executors at every time of the loop's own clock; raises its errors first."""

    def __init__(self, *faults: Exception) -> None:
        super().__init__(faults)

    def observe(self, now):
        return super().observe(now) or (at(now),)


def test_a_tick_observes_decides_guards_rescales_and_records_in_order():
    steps: list[str] = []

    class Everything(MemoryJournal):
        name = "rule"

        def halted(self):
            steps.append("halted?")
            return ""

        def observe(self, now):
            steps.append("observe")
            return (at(now),)

        def decide(self, observation, memory):
            steps.append("decide")
            return Decision(target=4, reason=""), {}

        def __call__(self, decision, observation, memory, now):
            steps.append("guard")
            return decision, {}

        def sizes(self, now):
            return None

        def rescale(self, decision, now):
            steps.append("rescale")
            return Rescaling(phase="growing")

        def append(self, record, memory):
            steps.append("record")

    one = Everything()
    Loop(sensor=one, policy=one, guards=(one,), actuator=one, journal=one).step(1.0)  # type: ignore[arg-type]
    assert steps == ["halted?", "observe", "decide", "guard", "rescale", "record"]


def test_the_record_contains_the_request_the_guard_changes_and_the_result():
    actuator, journal = RecordingActuator(), MemoryJournal()
    record = loop_of([at(1.0)], AskFor(9), actuator, journal).step(1.0)
    assert record.raw == Decision(target=9, reason="asked")
    assert record.guards == (
        GuardChange(guard="bounds", before=9, after=6, reason="asked; max executors is 6"),
    )
    assert (record.target, record.rescaling.phase, record.queries) == (6, "steady", ())
    assert actuator.targets == [6]
    assert journal.records == [record]


def test_the_target_is_asserted_at_every_tick():
    actuator = RecordingActuator()
    loop = loop_of([at(1.0), at(2.0), at(3.0)], AskFor(3), actuator)
    for now in (1.0, 2.0, 3.0):
        loop.step(now)
    assert actuator.targets == [3, 3, 3]


def test_several_queries_are_one_application_and_recorded_separately():
    both = (at(1.0, query="a", lag_rows=1.0), at(1.0, query="b", lag_rows=2.0))
    record = loop_of([both], AskFor(3)).step(1.0)
    assert record.queries == both
    assert record.observation is not None
    assert record.observation.lag_rows == 3.0


@pytest.mark.parametrize(
    ("observation", "why"),
    [(None, "no query"), (at(1.0, None), "not known"), (at(1.0, 0), "not known")],
)
def test_without_a_query_or_a_size_no_decision_is_made(observation, why):
    policy, actuator = AskFor(5), RecordingActuator()
    record = loop_of([observation], policy, actuator).step(1.0)
    assert (record.raw, record.target, record.rescaling.phase) == (None, None, "idle")
    assert why in record.rescaling.detail
    assert policy.memories == actuator.requests == []


def test_the_kill_switch_applies_within_one_tick_and_is_recorded():
    actuator, journal = RecordingActuator(), MemoryJournal()
    loop = loop_of([at(1.0), at(2.0)], AskFor(5), actuator, journal)
    loop.step(1.0)
    journal.stopped = True
    record = loop.step(2.0)
    assert (record.rescaling.phase, record.target, actuator.targets) == ("halted", None, [5])
    assert journal.records[-1] == record


class Held(RecordingActuator):
    def __init__(self) -> None:
        super().__init__()
        self.holds = 0

    def hold(self):
        self.holds += 1


def test_a_halted_loop_only_observes_and_resumes_with_its_memory():
    actuator, journal, policy = Held(), MemoryJournal(), AskFor(5)
    loop = loop_of(
        [at(1.0), at(61.0), at(3661.0), at(7200.0), at(7205.0)], policy, actuator, journal
    )
    loop.step(1.0)
    journal.stopped = True
    first, second = loop.step(61.0), loop.step(3661.0)
    for record in (first, second):
        assert (record.raw, record.target, record.rescaling.phase) == (None, None, "halted")
        assert record.rescaling.detail == (
            "halted since 1970-01-01 00:01 UTC (STOP); the query keeps running"
        )
    assert second.observation is not None
    assert second.observation.t_s == 3661.0
    assert (actuator.targets, actuator.holds) == ([5], 2)
    journal.stopped = False
    resumed, after = loop.step(7200.0), loop.step(7205.0)
    assert resumed.rescaling.detail == "resumed, halted since 1970-01-01 00:01 UTC"
    assert after.rescaling.detail == ""
    assert actuator.targets == [5, 5, 5]
    assert policy.memories[1] == {"calls": 1}


def test_a_halt_survives_failed_observations_and_a_restart():
    journal = MemoryJournal()
    journal.stopped = True
    for now, begun in ((60.0, "00:01"), (120.0, "00:01")):
        loop = Loop(
            sensor=Now(OSError("gone")),
            policy=AskFor(5),
            guards=(),
            actuator=RecordingActuator(),
            journal=journal,
        )
        record = loop.step(now)
        assert record.rescaling.detail.startswith(f"halted since 1970-01-01 {begun} UTC")
        assert record.observation is None


def test_pausing_the_process_halts_it_without_the_journal():
    actuator = RecordingActuator()
    loop = loop_of([at(1.0), at(2.0)], AskFor(5), actuator)
    loop.paused = "paused by the control API"
    assert "(paused by the control API)" in loop.step(1.0).rescaling.detail
    loop.paused = ""
    assert loop.step(2.0).target == 5


def test_a_halt_does_not_end_the_run():
    journal = MemoryJournal()
    journal.stopped = True
    loop = Loop(
        sensor=Now(), policy=AskFor(5), guards=(), actuator=RecordingActuator(), journal=journal
    )
    loop.run(0.001, Ticks(50))
    assert [record.rescaling.phase for record in journal.records] == ["halted"] * 50


def test_every_component_has_separate_memory():
    policy = AskFor(3)
    loop = loop_of([at(1.0), at(2.0)], policy)
    loop.step(1.0)
    loop.step(2.0)
    assert policy.memories == [{}, {"calls": 1}]


def test_the_cooldown_continues_after_a_restart(tmp_path):
    journal = FolderJournal(tmp_path)
    loop_of([at(100.0)], AskFor(5), journal=journal).step(100.0)
    journal.close()
    again, actuator = FolderJournal(tmp_path), RecordingActuator()
    loop = loop_of([at(105.0, 5), at(161.0, 5)], policy := AskFor(2), actuator, again)
    loop.step(105.0)
    loop.step(161.0)
    again.close()
    assert actuator.targets == [5, 2]
    assert policy.memories[0] == {"calls": 1}
    assert [record.target for record in read(tmp_path)] == [5, 5, 2]


def test_the_memory_of_a_failed_tick_is_discarded():
    loop = loop_of([at(1.0), at(2.0)], policy := AskFor(ValueError("broken"), 4))
    with pytest.raises(ValueError, match="broken"):
        loop.step(1.0)
    loop.step(2.0)
    assert policy.memories == [{}, {}]


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ({"sensor": Now(OSError("no broker"), OSError("no broker"))}, "no broker"),
        ({"policy": AskFor(ValueError("broken"), ValueError("broken"), 4)}, "broken"),
        ({"actuator": Failing()}, "no cluster"),
        ({"journal": FullDisk()}, "disk full"),
        ({"journal": UnreadableSwitch()}, "no such disk"),
    ],
)
def test_a_failure_is_logged_once_and_the_run_continues(parts, error, caplog):
    stop = Ticks(5)
    components = {
        "sensor": Now(),
        "policy": AskFor(4),
        "guards": (),
        "actuator": RecordingActuator(),
        "journal": MemoryJournal(),
        **parts,
    }
    with caplog.at_level(logging.WARNING, logger="rheostat"):
        Loop(**components).run(0.001, stop)
    assert stop.left == 0
    assert [error in message for message in caplog.messages] == [True]
    assert "the job keeps its size" in caplog.messages[0]


def test_a_full_disk_does_not_stop_decisions():
    actuator = RecordingActuator()
    loop = loop_of([at(1.0), at(2.0)], AskFor(4, 5), actuator, FullDisk())
    for now in (1.0, 2.0):
        with pytest.raises(OSError, match="disk full"):
            loop.step(now)
    assert actuator.targets == [4, 5]


def test_the_tick_after_a_failure_decides_again():
    actuator, observed = RecordingActuator(), list[Record]()
    loop = Loop(
        sensor=Now(OSError("once")),
        policy=AskFor(4),
        guards=(),
        actuator=actuator,
        journal=MemoryJournal(),
    )
    loop.run(0.001, Ticks(3), observed.append)
    assert actuator.targets == [4, 4]
    assert [record.target for record in observed] == [None, 4, 4]


def test_a_policy_that_always_fails_is_recorded_at_every_tick():
    journal, observed = MemoryJournal(), list[Record]()
    loop = Loop(
        sensor=Now(),
        policy=AskFor(ValueError("broken")),
        guards=(),
        actuator=RecordingActuator(),
        journal=journal,
    )
    loop.run(0.001, Ticks(3), observed.append)
    assert journal.records == observed
    assert [record.rescaling for record in observed] == [
        Rescaling(phase="failed", detail="ValueError: broken; the size stays")
    ] * 3


def test_a_failing_callback_is_logged_once_and_does_no_harm(caplog):
    def watcher(record: Record) -> None:
        raise KeyError("mine")

    actuator = RecordingActuator()
    Loop(
        sensor=Now(),
        policy=AskFor(4),
        guards=(),
        actuator=actuator,
        journal=MemoryJournal(),
    ).run(0.001, Ticks(3), watcher)
    assert actuator.targets == [4, 4, 4]
    assert ["mine" in message for message in caplog.messages] == [True]


def test_failures_after_the_end_of_the_application_are_ignored(caplog):
    journal, stop = MemoryJournal(), Ticks(9)

    class Ending(AskFor):
        def decide(self, observation, memory):
            stop.set()
            raise OSError("the session has gone")

    Loop(
        sensor=Now(), policy=Ending(), guards=(), actuator=RecordingActuator(), journal=journal
    ).run(0.001, stop)
    assert (journal.records, caplog.messages) == ([], [])


def test_two_different_failures_are_both_logged(caplog):
    sensor = Now(OSError("a"), OSError("b"), OSError("a"))
    loop = Loop(
        sensor=sensor,
        policy=AskFor(4),
        guards=(),
        actuator=RecordingActuator(),
        journal=MemoryJournal(),
    )
    loop.run(0.001, Ticks(4))
    assert len(caplog.messages) == 2


def test_a_stopped_run_does_nothing():
    stop, journal = Ticks(1), MemoryJournal()
    stop.set()
    loop_of([at(1.0)], AskFor(4), journal=journal).run(0.001, stop)
    assert journal.records == []


def test_the_memory_of_the_actuator_is_stored_outside_the_record():
    class Remembering(RecordingActuator):
        def rescale(self, decision, now):
            return Rescaling(phase="growing", memory={"asked": decision.target})

    journal = MemoryJournal()
    record = loop_of([at(1.0)], AskFor(4), Remembering(), journal).step(1.0)
    assert journal.memory["rescaling"] == {"asked": 4}
    assert record.rescaling.memory == {}


def test_a_new_policy_starts_at_the_next_tick_without_old_memory():
    first, second, actuator = AskFor(4), AskFor(5), RecordingActuator()
    loop = loop_of([at(0), at(100)], first, actuator)
    loop.step(0)
    loop.direct(second, standard_guards(Limits(max_executors=4), Cooldown(0, 0)))
    loop.step(100)
    assert second.memories == [{}]
    assert actuator.targets == [4, 4]


def test_the_size_reported_by_the_actuator_is_observed_and_recorded():
    class Counting(RecordingActuator):
        def sizes(self, now):
            return int(now), 3

    loop = Loop(
        sensor=ScriptedSensor([Observation(t_s=1.0, executors=9), Observation(t_s=2.0)]),
        policy=AskFor(3),
        guards=(),
        actuator=Counting(),
        journal=MemoryJournal(),
    )
    observed = [loop.step(now).observation for now in (1.0, 2.0)]
    assert [(size.executors, size.target) for size in observed if size] == [(1, 3), (2, 3)]


def test_the_loop_resumes_starts_and_closes_its_actuator():
    class Live(RecordingActuator):
        calls: ClassVar[list[object]] = []

        def resume(self, kept, now):
            self.calls.append(kept)

        def start(self, tick):
            self.calls.append("start")

        def begin(self, decision, now):
            self.calls.append(decision.target)

        def close(self):
            self.calls.append("close")

    class Broken(ScriptedSensor):
        def close(self):
            raise OSError("the broker is away")

    journal, actuator = MemoryJournal({"rescaling": {"lives": 1}}), Live()
    loop = Loop(sensor=Broken([]), policy=AskFor(3), guards=(), actuator=actuator, journal=journal)
    loop.start(1.0, lambda: None)
    loop.request(Decision(target=6, reason="backlog"), 1.0)
    loop.paused = "a person"
    loop.request(Decision(target=7, reason="backlog"), 1.0)
    with pytest.raises(OSError, match="away"):
        loop.close()
    assert actuator.calls == [{"lives": 1}, "start", 6, "close"]
