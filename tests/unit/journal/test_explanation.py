from rheostat.journal.explanation import changes, explain, seen, when
from rheostat.model import Observation, Record, Rescaling


def record(size: int | None, target: int | None, phase: str = "steady") -> Record:
    observation = None if size is None else Observation(t_s=0.0, executors=size, target=size)
    stands = Rescaling(phase=phase)
    return Record(
        t_s=0.0,
        observation=observation,
        queries=(),
        raw=None,
        guards=(),
        target=target,
        actions=(),
        rescaling=stands,
    )


def test_advice_that_nobody_follows_is_told_once():
    ticks = [
        record(4, 2, "advised"),
        record(4, 2, "advised"),
        record(4, 3, "advised"),
        record(4, 4),
        record(4, 3, "advised"),
    ]
    assert [tick.target for tick in changes(ticks)] == [2, 3, 3]


def test_a_halt_is_told_when_it_begins():
    ticks = [record(4, 4), record(None, None, "halted"), record(None, None, "halted"), record(4, 4)]
    assert [tick.rescaling.phase for tick in changes(ticks)] == ["halted"]


def test_what_is_absent_is_not_told():
    assert seen(Observation(t_s=0.0)) == "nothing but the time"
    assert (
        seen(Observation(t_s=0.0, executors=3, busy=0.5))
        == "3 executors, 50% of the slots' time is busy"
    )
    assert seen(None) == "no query"


def test_nothing_decided_is_said():
    assert explain(record(None, None, "idle")) == [
        "0 s: nothing was decided",
        "  seen: no query",
        "  rescaling: idle",
    ]


def test_small_times_are_seconds():
    assert when(12.5) == "12.5 s"
    assert when(1_769_850_000.25) == "2026-01-31 09:00:00 UTC (1769850000.25)"
