"""The totals of a journal."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat.journal.job_status import against_of, saving, total
from rheostat.journal.starts import LIVE, SHADOW, Start
from rheostat.journal.totals import Totals, totals_of
from rheostat.model import Decision, GuardChange, InFlight, Observation, Record, Rescaling

HOUR_S, NOON_S = 3600.0, 1_764_244_800.0  # 2025-11-27 12:00 UTC


def start(**fields: object) -> Start:
    default = Start(
        t_s=0.0,
        mode=LIVE,
        policy="predictive",
        slo_s=10.0,
        min_executors=1,
        max_executors=8,
        interval_s=5.0,
    )
    return replace(default, **fields)  # type: ignore[arg-type]


def record(
    t_s: float, executors: int | None, target: int | None = None, **signals: object
) -> Record:
    observation = Observation(
        t_s=t_s,
        executors=executors,
        slots_per_executor=2,
        **signals,  # type: ignore[arg-type]
    )
    target = executors if target is None else target
    return Record(
        t_s=t_s,
        observation=observation,
        queries=(),
        raw=None if target is None else Decision(target=target, reason="the load grows"),
        guards=(),
        target=target,
        actions=(),
        rescaling=Rescaling(phase="steady"),
    )


def totals(*records: Record, starts: tuple[Start, ...] = (start(),)) -> Totals:
    result = Totals()
    for item in records:
        result.fold(item, starts)
    return result


def test_slot_hours_are_executors_times_slots_times_measured_time():
    day = total(totals(*(record(NOON_S + 5 * tick, 3) for tick in range(721))).days)
    saved = saving(day, "max", 6)
    assert saved.slot_h == pytest.approx(6.0)
    assert saved.against_slot_h == pytest.approx(16.0)
    assert saved.saved_share == pytest.approx(0.625)
    assert saving(day, "before", 6).saved_slot_h == pytest.approx(6.0)
    assert saving(day, 4, None).saved_slot_h == pytest.approx(2.0)


def test_time_without_ticks_or_size_is_unknown_and_costs_nothing():
    day = total(totals(record(NOON_S, 3), record(NOON_S + HOUR_S, 3)).days)
    assert (day.unknown_s, day.known_s, day.slot_s) == (HOUR_S, 0.0, 0.0)
    day = total(totals(record(NOON_S, None), record(NOON_S + 5, 3)).days)
    assert (day.unknown_s, day.known_s) == (5.0, 0.0)
    assert saving(day, "max", None).against_slot_h is None


def test_savings_are_unknown_without_a_size_before_or_a_ceiling():
    records = [record(NOON_S + 5 * tick, 3) for tick in range(3)]
    day = total(totals(*records).days)
    assert saving(day, "before", None).saved_slot_h is None
    day = total(totals(*records, starts=(start(t_s=NOON_S + 7),)).days)
    assert saving(day, "max", None).saved_slot_h is None


def test_shadow_mode_saves_nothing():
    records = [record(NOON_S + 5 * tick, 3) for tick in range(3)]
    day = total(totals(*records, starts=(start(mode=SHADOW),)).days)
    assert (day.shadow_s, day.slot_s) == (10.0, 0.0)
    assert saving(day, "max", None).saved_slot_h is None


def test_rows_are_late_while_a_batch_takes_longer_than_the_objective():
    day = total(
        totals(
            record(NOON_S, 3),
            record(NOON_S + 5, 3, input_rows_per_s=10.0, latency_s=9.0),
            record(NOON_S + 10, 3, input_rows_per_s=10.0, latency_s=11.0),
            record(
                NOON_S + 15,
                3,
                input_rows_per_s=10.0,
                latency_s=9.0,
                in_flight=InFlight(elapsed_s=60.0),
            ),
            record(NOON_S + 20, 3, latency_s=9.0),
            record(NOON_S + 25, 3, input_rows_per_s=10.0),
        ).days
    )
    assert (day.rows, day.late_rows, day.rows_unknown_s) == (150.0, 100.0, 10.0)


def test_midnight_separates_the_days():
    midnight_s = NOON_S + 12 * HOUR_S
    days = totals(record(midnight_s - 2, 3), record(midnight_s + 3, 3)).days
    assert {date: day.known_s for date, day in days.items()} == {
        "2025-11-27": 2.0,
        "2025-11-28": 3.0,
    }


def test_the_newest_change_is_kept_with_the_guard_that_set_it():
    fields = replace(
        record(NOON_S + 5, 3, 4),
        guards=(GuardChange(guard="bounds", before=9, after=4, reason="max executors is 4"),),
    )
    result = totals(record(NOON_S, 3), fields, record(NOON_S + 10, 4))
    assert result.last_change is not None
    assert (result.last_change.before, result.last_change.after) == (3, 4)
    assert (result.last_change.guard, result.last_change.reason) == ("bounds", "max executors is 4")
    assert total(result.days).changes == 1


def test_a_default_ceiling_follows_a_larger_application():
    records = [record(NOON_S + 5 * tick, 12) for tick in range(2)]
    day = total(totals(*records, starts=(start(limits_given=False),)).days)
    assert saving(day, "max", None).saved_slot_h == 0.0


TICKS = st.lists(
    st.tuples(
        st.floats(0.1, 7200.0),
        st.none() | st.integers(1, 20),
        st.none() | st.floats(0.0, 1e4),
        st.none() | st.floats(0.0, 60.0),
    ),
    min_size=1,
    max_size=40,
)


@given(TICKS)
def test_every_second_is_known_or_unknown_and_survives_json(ticks):
    t_s, result = NOON_S, Totals()
    for step_s, executors, rate, latency_s in ticks:
        t_s += step_s
        result.fold(record(t_s, executors, input_rows_per_s=rate, latency_s=latency_s), (start(),))
        result = totals_of(json.loads(json.dumps(asdict(result))))
    day = total(result.days)
    passed_s = t_s - NOON_S - ticks[0][0]
    assert day.known_s + day.unknown_s == pytest.approx(passed_s, abs=1e-3)
    assert 0.0 <= day.late_rows <= day.rows
    assert day.rows_unknown_s <= day.known_s + 1e-6


def test_the_baseline_of_a_saving_is_validated():
    assert [against_of(text) for text in ("4", "max", "before")] == [4, "max", "before"]
    for text in ("0", "-1", "most", ""):
        with pytest.raises(BadInput, match="--against must be a number of executors"):
            against_of(text)


def test_each_of_several_queries_has_its_own_share_in_time():
    def both(t_s: float, latency_s: float) -> Record:
        orders = Observation(t_s=t_s, query="orders", input_rows_per_s=10.0, latency_s=latency_s)
        audit = replace(orders, query="audit", objective_share=10 / 60)
        combined = record(t_s, 2, input_rows_per_s=20.0, latency_s=latency_s)
        return replace(combined, queries=(orders, audit))

    ticks = [both(NOON_S + 5.0 * n, latency_s=30.0 if n in (2, 3) else 1.0) for n in range(9)]
    read = totals_of(json.loads(json.dumps(asdict(totals(*ticks)))))
    day = saving(total(read.days), "max", None)
    assert day.in_time_share == {"orders": 0.75, "audit": 1.0}
    assert total(read.days).queries["audit"] == [400.0, 0.0]


@pytest.mark.parametrize(("priority", "counted"), [(None, [2000.0, 200.0]), (2.0, [1000.0, 0.0])])
def test_the_late_rows_of_a_job_are_those_of_its_queries_with_the_highest_priority(
    priority: float | None, counted: list[float]
) -> None:
    def both(t_s: float, latency_s: float) -> Record:
        orders = Observation(
            t_s=t_s, query="orders", input_rows_per_s=10.0, latency_s=1.0, priority=priority
        )
        audit = replace(orders, query="audit", latency_s=latency_s, priority=priority and 1.0)
        return replace(record(t_s, 2, latency_s=latency_s), queries=(orders, audit))

    ticks = [both(NOON_S + 5.0 * n, latency_s=30.0 if n < 5 else 1.0) for n in range(21)]
    day = total(totals(*ticks).days)
    assert [day.rows, day.late_rows] == counted
    assert day.queries == {"orders": [1000.0, 0.0], "audit": [1000.0, 200.0]}
