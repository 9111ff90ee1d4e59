"""Values derived from any recording: ages, means, arrivals and the ledger."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.model import InFlight, Observation, Slo
from rheostat.sim.arrivals import Arrivals
from rheostat.sim.fitting.recorded_run import (
    Recorded,
    _ages_s,
    _batches,
    _changes,
    _mean,
    _new,
    _registered,
    load_of,
    recorded_ledger,
)
from rheostat.sim.measures import measures


@st.composite
def recordings(draw: st.DrawFn) -> Recorded:
    """Draw observations some seconds apart, each with or without the optional signals."""
    observations, now = [], 0.0
    for number in range(draw(st.integers(3, 12))):
        now += draw(st.integers(1, 9)) if number else 0
        batch_s = draw(st.sampled_from([None, 0.0, 0.5, 2.0, 7.0]))
        running = draw(st.booleans())
        observations.append(
            Observation(
                t_s=now,
                executors=draw(st.sampled_from([None, 0, 1, 2, 4])),
                target=draw(st.sampled_from([None, 1, 3, 5])),
                input_rows_per_s=draw(st.sampled_from([None, 0.0, 3.0, 40.0])),
                lag_rows=draw(st.sampled_from([None, 0.0, 10.0, 200.0])),
                batch_s=batch_s,
                batch_rows=None if batch_s is None else draw(st.integers(0, 90)),
                latency_s=draw(st.sampled_from([None, 0.4, 5.0])),
                trigger_s=2.0,
                in_flight=InFlight(elapsed_s=draw(st.floats(0, 6))) if running else None,
            )
        )
    if not any(observation.executors for observation in observations):
        observations[0] = replace(observations[0], executors=2)
    return Recorded(tuple(observations), 1000.0, _batches(observations))


@settings(max_examples=20, deadline=None)
@given(recordings())
def test_the_ledger_of_a_recording_accounts_for_every_row_and_executor(
    run: Recorded,
) -> None:
    book = recorded_ledger(run)
    assert book.rows.sum() == pytest.approx(book.committed_rows)
    assert book.rows.sum() + book.left_rows.sum() == pytest.approx(book.arrived_rows)
    assert (book.latency_s >= 0).all()
    assert (np.diff(book.commit_s) >= -1e-9).all()
    times_s = np.linspace(0, run.duration_s, 30)
    assert (book.paid.at(times_s) >= book.registered.at(times_s)).all()
    result = measures(book, Slo(latency_s=3.0))
    assert result.within is None or 0 <= result.within <= 1
    assert 0 <= result.late_s <= run.duration_s + 1


@settings(max_examples=20, deadline=None)
@given(recordings())
def test_a_reconstructed_batch_has_its_observed_time_and_rows(run: Recorded) -> None:
    sizes = [observation.executors for observation in run.observations if observation.executors]
    observed = {(observation.batch_s, observation.batch_rows) for observation in run.observations}
    for batch in run.batches:
        assert (batch.batch_s, batch.rows) in observed
        assert min(sizes) <= batch.executors <= max(sizes)
        assert 0 <= batch.new <= sum(sizes)
        assert batch.starting >= 0
        assert 0 <= batch.end_s <= run.duration_s
    ends_s = [batch.end_s for batch in run.batches]
    assert ends_s == sorted(ends_s)


@settings(max_examples=20, deadline=None)
@given(recordings(), st.floats(0, 100))
def test_executor_ages_are_sorted_and_match_an_observed_size(run: Recorded, t_s: float) -> None:
    ages_s, first = _ages_s(_changes(run.observations), t_s)
    assert list(ages_s) == sorted(ages_s, reverse=True)
    assert 0 < first <= len(ages_s)
    assert len(ages_s) in {observation.executors for observation in run.observations}
    known = [observation for observation in run.observations if observation.executors]
    assert _ages_s(_changes(run.observations), 1e4)[0][0] == 1e4 - known[0].t_s
    assert len(_ages_s(_changes(run.observations), 1e4)[0]) == known[-1].executors


@settings(max_examples=20, deadline=None)
@given(recordings(), st.floats(0, 60), st.floats(0.1, 40))
def test_a_mean_lies_within_the_observed_values_and_counts_add_up(
    run: Recorded, begin_s: float, length_s: float
) -> None:
    sizes = [
        float(observation.executors) for observation in run.observations if observation.executors
    ]
    mean = _mean(run.observations, _registered, begin_s, begin_s + length_s)
    assert mean is None or min(sizes) - 1e-9 <= mean <= max(sizes) + 1e-9
    overall = _mean(run.observations, _registered, -1e3, 1e3)
    assert overall is not None
    arrived = _new(_changes(run.observations), -1.0, 1e4)
    assert arrived == _new(_changes(run.observations), -1.0, begin_s) + _new(
        _changes(run.observations), begin_s, 1e4
    )


@settings(max_examples=20, deadline=None)
@given(recordings())
def test_the_initial_backlog_arrives_in_the_first_second(run: Recorded) -> None:
    waiting = next(
        (
            observation.lag_rows
            for observation in run.observations
            if observation.lag_rows is not None
        ),
        0.0,
    )
    plain, with_backlog = Arrivals(run.arrivals()), Arrivals(load_of(run))
    for t_s in (1.0, run.duration_s, run.duration_s + 100):
        assert with_backlog.rows_at(t_s) - plain.rows_at(t_s) == pytest.approx(waiting)
    assert run.executors_at(run.duration_s) == run.sizes[-1][1]
    assert run.executors_at(-1.0) == run.sizes[0][1]
