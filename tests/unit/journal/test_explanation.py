from dataclasses import replace

from rheostat.journal.explanation import changes, explain, format_observation, verdict, when
from rheostat.model import Decision, GuardChange, Observation, Record, Rescaling


def record(size: int | None, target: int | None, phase: str = "steady") -> Record:
    observation = None if size is None else Observation(t_s=0.0, executors=size, target=size)
    rescaling_state = Rescaling(phase=phase)
    return Record(
        t_s=0.0,
        observation=observation,
        queries=(),
        raw=None,
        guards=(),
        target=target,
        actions=(),
        rescaling=rescaling_state,
    )


def test_unexecuted_advice_is_reported_once():
    ticks = [
        record(4, 2, "advised"),
        record(4, 2, "advised"),
        record(4, 3, "advised"),
        record(4, 4),
        record(4, 3, "advised"),
    ]
    assert [tick.target for tick in changes(ticks)] == [2, 3, 3]


def test_a_halt_is_reported_when_it_begins_and_ends():
    ticks = [record(4, 4), record(None, None, "halted"), record(None, None, "halted"), record(4, 4)]
    assert [*changes(ticks)] == [ticks[1], ticks[3]]


def test_absent_signals_are_omitted():
    assert format_observation(Observation(t_s=0.0)) == "no signals"
    assert (
        format_observation(Observation(t_s=0.0, executors=3, busy=0.5))
        == "3 executors, slots busy 50%"
    )
    assert format_observation(None) == "no query"


def test_a_tick_without_a_decision_is_reported():
    assert explain(record(None, None, "idle")) == [
        "0 s: nothing was decided",
        "  observed: no query",
        "  rescaling: idle",
    ]


def test_one_executor_and_one_row_use_the_singular():
    alone = Observation(t_s=0.0, executors=1, lag_rows=1)
    assert format_observation(alone) == "1 executor, backlog 1 row"
    assert verdict(record(2, 1)) == "2 -> 1 executor"
    assert verdict(record(1, 1)) == "stay at 1 executor"


def test_the_decision_and_its_guards_are_listed_in_order():
    raw = Decision(target=9, reason="lag (6.2 s)", evidence={"rate": 1399.0})
    step = "lag (6.2 s); at most 2 more at a time"
    guards = (
        GuardChange(guard="step-limits", before=9, after=8, reason=step),
        GuardChange(guard="bounds", before=8, after=7, reason=f"{step}; max executors is 7"),
    )
    lines = explain(replace(record(6, 7, "growing"), raw=raw, guards=guards))
    assert lines == [
        "0 s: 6 -> 7 executors: wanted 9, allowed 7 (bounds)",
        "  observed: 6 executors",
        "  wanted 9: lag (6.2 s) [arrival rate: 1,399 rows/s]",
        "  allowed 8, not 9, by step-limits: at most 2 more at a time",
        "  allowed 7, not 8, by bounds: max executors is 7",
        "  rescaling: growing",
    ]
    without_guards = explain(replace(record(6, 9, "growing"), raw=raw))
    assert without_guards[0] == "0 s: 6 -> 9 executors"
    assert without_guards[3] == "  allowed 9: no guard changed that"


def test_small_times_are_printed_as_seconds():
    assert when(12.5) == "12.5 s"
    assert when(1_769_850_000.25) == "2026-01-31 09:00:00 UTC (1769850000.25)"


def test_each_of_several_queries_is_explained_with_its_objective_and_priority() -> None:
    orders = Observation(t_s=0.0, query="orders", latency_s=3.0, priority=2.0)
    audit = replace(orders, query="audit", latency_s=90.0, priority=1.0, objective_share=1 / 6)
    lines = explain(replace(record(2, 2), queries=(orders, audit)))
    assert lines[2:4] == [
        "    orders: latency of a row 3 s",
        "    audit (its times count 17%; priority 1: late rows spend no error budget): latency of a"
        " row 90 s",
    ]
