import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat.model import InFlight, Observation, Slo, Stage
from rheostat.ports import Sensor
from rheostat.signals.application import WithObjectives, combine, priorities
from rheostat.signals.true_rates import needs


def query(name: str, **signals: object) -> Observation:
    return Observation(t_s=1.0, application="app", query=name, executors=3, **signals)  # type: ignore[arg-type]


def test_no_query_gives_no_observation():
    assert combine(()) is None


def test_a_single_query_is_returned_unchanged():
    only = query("a", lag_rows=1.0)
    assert combine((only,)) is only


def test_rates_lag_and_state_are_summed_but_executors_are_not():
    both = combine(
        (
            query(
                "a",
                input_rows_per_s=1.0,
                processed_rows_per_s=10.0,
                output_rows_per_s=3.0,
                lag_rows=5.0,
                state_rows=7,
                state_bytes=70,
            ),
            query(
                "b",
                input_rows_per_s=2.0,
                processed_rows_per_s=20.0,
                output_rows_per_s=4.0,
                lag_rows=6.0,
                state_rows=8,
                state_bytes=80,
            ),
        )
    )
    assert both is not None
    assert (
        both.input_rows_per_s,
        both.processed_rows_per_s,
        both.output_rows_per_s,
        both.lag_rows,
    ) == (3.0, 30.0, 7.0, 11.0)
    assert (both.state_rows, both.state_bytes, both.executors, both.query) == (15, 150, 3, None)


@pytest.mark.parametrize(
    "name", ["input_rows_per_s", "processed_rows_per_s", "lag_rows", "lag_s", "latency_s"]
)
def test_a_sum_with_a_missing_summand_is_absent(name):
    both = combine((query("a", **{name: 1.0}), query("b")))
    assert getattr(both, name) is None


def test_the_slowest_query_determines_the_wait():
    long = query("a", lag_s=1.0, latency_s=9.0, batch_s=3.0, trigger_s=10.0)
    full = query("b", lag_s=4.0, latency_s=2.0, batch_s=2.0, trigger_s=1.0)
    both = combine((long, full))
    assert both is not None
    assert (both.lag_s, both.latency_s) == (4.0, 9.0)
    assert (both.batch_s, both.trigger_s) == (
        2.0,
        1.0,
    ), "the query that fills most of its interval, not the longest batch"


def test_one_estimated_wait_makes_the_combined_wait_an_estimate():
    both = combine((query("a", lag_s=9.0), query("b", lag_littles_law_s=4.0)))
    assert both is not None
    assert (both.lag_s, both.lag_littles_law_s, both.wait_s) == (None, 9.0, 9.0)


def test_the_longest_running_batch_is_in_flight():
    both = combine(
        (
            query("a", in_flight=InFlight(elapsed_s=2.0)),
            query("b", in_flight=InFlight(elapsed_s=5.0)),
            query("c"),
        )
    )
    assert both is not None
    assert both.in_flight == InFlight(elapsed_s=5.0)


def test_source_names_are_prefixed_with_their_query():
    both = combine((query("a", inputs={"bids": 1.0}), query("b", inputs={"bids": 2.0})))
    assert both is not None
    assert both.inputs == {"a/bids": 1.0, "b/bids": 2.0}


def test_stage_names_are_prefixed_with_their_query():
    def staged(name: str) -> Observation:
        stages = (
            Stage(name="stage 0", upstream=("bids",)),
            Stage(name="stage 1", upstream=("stage 0",)),
        )
        return Observation(t_s=0.0, query=name, inputs={"bids": 5.0}, stages=stages)

    combined = combine([staged("a"), staged("b")])
    assert combined is not None
    assert [(stage.name, stage.upstream) for stage in combined.stages or ()] == [
        ("a/stage 0", ("a/bids",)),
        ("a/stage 1", ("a/stage 0",)),
        ("b/stage 0", ("b/bids",)),
        ("b/stage 1", ("b/stage 0",)),
    ]
    assert set(combined.inputs or ()) == {"a/bids", "b/bids"}


def test_stages_are_absent_if_one_query_reports_none():
    combined = combine(
        [
            Observation(t_s=0.0, query="a", stages=(Stage(name="s"),)),
            Observation(t_s=0.0, query="b"),
        ]
    )
    assert combined is not None
    assert combined.stages is None


def batch(name: str, rate: float, work_s: float, batch_s: float, trigger_s: float) -> Observation:
    """Return a query of one stage whose rows cost ``work_s`` slot-seconds each."""
    rows = rate * max(batch_s, trigger_s)
    stage = Stage(name="0", upstream=("in",), rows_in=rows, busy_s=rows * work_s, tasks=8)
    return query(
        name,
        inputs={"in": rate},
        input_rows_per_s=rate,
        batch_s=batch_s,
        batch_rows=round(rows),
        trigger_s=trigger_s,
        stages=(stage,),
    )


@given(
    st.lists(
        st.tuples(st.floats(50, 5000), st.floats(1e-4, 1e-2), st.floats(0.1, 20), st.floats(0, 30)),
        min_size=2,
        max_size=4,
    )
)
def test_the_slot_needs_of_queries_in_one_session_add_up(drawn):
    queries = [batch(f"q{n}", *numbers) for n, numbers in enumerate(drawn)]
    both = combine(queries)
    assert both is not None
    alone = sum(operator.slots for one in queries for operator in needs(one).operators)
    assert sum(operator.slots for operator in needs(both).operators) == pytest.approx(alone)
    busy_s = sum(stage.busy_s or 0.0 for stage in both.stages or ())
    work_s = busy_s / (both.batch_rows or 1)  # per mean row, as a model of one batch learns it
    assert work_s * (both.input_rows_per_s or 0.0) == pytest.approx(alone, rel=0.05)


def test_a_query_with_a_short_trigger_counts_all_batches_of_the_interval():
    slow = batch("slow", 100.0, 1e-3, batch_s=9.0, trigger_s=10.0)
    quick = batch("quick", 100.0, 1e-3, batch_s=0.5, trigger_s=1.0)
    both = combine((slow, quick))
    assert both is not None
    assert (both.trigger_s, both.batch_rows) == (10.0, 2000)
    assert [stage.busy_s for stage in both.stages or ()] == pytest.approx([1.0, 1.0])


def test_batch_rows_are_unknown_if_one_query_does_not_report_them():
    both = combine((query("a", batch_rows=5, batch_s=1.0), query("b", batch_s=1.0)))
    assert both is not None
    assert both.batch_rows is None


class Queries(Sensor):
    def __init__(self, *queries: Observation) -> None:
        self._queries = queries

    def observe(self, now: float) -> Sequence[Observation]:
        return self._queries


def combined(slo: Slo, *queries: Observation, **priority: float) -> Observation:
    application = combine(WithObjectives(Queries(*queries), slo, priority).observe(1.0))
    assert application is not None
    return application


ORDERS = {"input_rows_per_s": 100.0, "lag_rows": 200.0, "batch_s": 1.0, "trigger_s": 2.0}
AUDIT = {"input_rows_per_s": 50.0, "lag_rows": 600.0, "batch_s": 29.0, "trigger_s": 30.0}
BOTH = Slo.of("orders=10,audit=60")


def test_a_query_with_a_laxer_objective_counts_in_proportion_and_its_rates_in_full():
    both = combined(
        BOTH,
        query("orders", latency_s=3.0, in_flight=InFlight(elapsed_s=1.0), **ORDERS),
        query("audit", latency_s=30.0, in_flight=InFlight(elapsed_s=12.0, rows=600), **AUDIT),
    )
    assert (both.latency_s, both.lag_rows, both.input_rows_per_s) == (5.0, 300.0, 150.0)
    assert both.in_flight == InFlight(elapsed_s=2.0, rows=100)


def test_the_interval_is_that_of_the_query_with_the_strictest_objective():
    queries = query("orders", **ORDERS), query("audit", **AUDIT)
    assert combined(BOTH, *queries).trigger_s == 2.0
    assert combined(Slo(), *queries).trigger_s == 30.0


def test_a_query_without_an_objective_of_its_own_has_the_strictest():
    assert combined(BOTH, query("other", latency_s=3.0)).latency_s == 3.0
    assert combined(BOTH, query("audit", latency_s=30.0)).latency_s == 5.0


def test_an_objective_is_read_from_seconds_text_and_mapping():
    assert Slo.of({"orders": 10, "audit": 60}) == Slo.of("audit=60, orders=10") == BOTH
    assert Slo.of(5) == Slo.of("5") == Slo(latency_s=5)
    assert str(BOTH) == "10 s (audit 60 s, orders 10 s)"


def test_late_rows_of_a_low_priority_query_spend_no_error_budget_but_its_load_counts() -> None:
    queries = (
        query("orders", latency_s=3.0, **ORDERS),
        query("audit", latency_s=90.0, lag_s=90.0, **AUDIT),
    )
    both = combined(BOTH, *queries, orders=2.0)
    assert (both.latency_s, both.lag_rows, both.input_rows_per_s) == (3.0, 300.0, 150.0)
    assert combined(BOTH, *queries).latency_s == 15.0
    assert combined(BOTH, *queries, audit=2.0).latency_s == 15.0


def test_a_low_priority_query_that_runs_alone_counts() -> None:
    assert combined(BOTH, query("audit", latency_s=90.0), orders=2.0).latency_s == 15.0


def test_a_priority_is_read_from_text_and_mapping() -> None:
    assert priorities("orders=2, audit=1") == priorities({"orders": 2, "audit": 1})
    for wrong in ("2", "orders=high", {"orders": 0}, {"orders": True}, {"orders": math.inf}, 3):
        with pytest.raises(BadInput, match="priority must be a positive number by query, such as"):
            priorities(wrong)
