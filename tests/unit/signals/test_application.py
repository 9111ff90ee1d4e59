import pytest

from rheostat.model import InFlight, Observation, Stage
from rheostat.signals.application import combine


def query(name: str, **signals: object) -> Observation:
    return Observation(t_s=1.0, application="app", query=name, executors=3, **signals)  # type: ignore[arg-type]


def test_no_query_is_no_observation():
    assert combine(()) is None


def test_one_query_is_the_application():
    only = query("a", lag_rows=1.0)
    assert combine((only,)) is only


def test_rates_lag_and_state_are_summed_and_executors_are_not():
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
def test_a_sum_without_one_of_its_summands_is_absent(name):
    both = combine((query("a", **{name: 1.0}), query("b")))
    assert getattr(both, name) is None


def test_the_application_waits_as_long_as_its_slowest_query():
    long = query("a", lag_s=1.0, latency_s=9.0, batch_s=3.0, trigger_s=10.0)
    full = query("b", lag_s=4.0, latency_s=2.0, batch_s=2.0, trigger_s=1.0)
    both = combine((long, full))
    assert both is not None
    assert (both.lag_s, both.latency_s) == (4.0, 9.0)
    assert (both.batch_s, both.trigger_s) == (
        2.0,
        1.0,
    ), "the query that fills most of its interval, not the longest batch"


def test_the_longest_running_batch_is_the_one_in_flight():
    both = combine(
        (
            query("a", in_flight=InFlight(elapsed_s=2.0)),
            query("b", in_flight=InFlight(elapsed_s=5.0)),
            query("c"),
        )
    )
    assert both is not None
    assert both.in_flight == InFlight(elapsed_s=5.0)


def test_sources_keep_the_name_of_their_query():
    both = combine((query("a", inputs={"bids": 1.0}), query("b", inputs={"bids": 2.0})))
    assert both is not None
    assert both.inputs == {"a/bids": 1.0, "b/bids": 2.0}


def test_the_stages_of_all_queries_are_told_apart_by_their_query():
    def staged(name: str) -> Observation:
        stages = (
            Stage(name="stage 0", upstream=("bids",)),
            Stage(name="stage 1", upstream=("stage 0",)),
        )
        return Observation(t_s=0.0, query=name, inputs={"bids": 5.0}, stages=stages)

    whole = combine([staged("a"), staged("b")])
    assert whole is not None
    assert [(stage.name, stage.upstream) for stage in whole.stages or ()] == [
        ("a/stage 0", ("a/bids",)),
        ("a/stage 1", ("a/stage 0",)),
        ("b/stage 0", ("b/bids",)),
        ("b/stage 1", ("b/stage 0",)),
    ]
    assert set(whole.inputs or ()) == {"a/bids", "b/bids"}


def test_where_one_query_shows_no_stages_there_are_none():
    whole = combine(
        [
            Observation(t_s=0.0, query="a", stages=(Stage(name="s"),)),
            Observation(t_s=0.0, query="b"),
        ]
    )
    assert whole is not None
    assert whole.stages is None
