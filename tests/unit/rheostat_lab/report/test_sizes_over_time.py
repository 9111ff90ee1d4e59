"""The number of executors over time, and the number of paid ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.rheostat_lab.report.test_summary import run_of

from rheostat_lab.report.finished_run import ExecutorLife, Run
from rheostat_lab.report.sizes_over_time import Steps, paid, registered

times = st.floats(-50.0, 150.0)
lives = st.builds(
    lambda requested_s, starts_s, lasts_s: ExecutorLife(
        id="0",
        requested_s=requested_s,
        registered_s=(requested_s or 0.0) + starts_s,
        removed_s=None if lasts_s is None else (requested_s or 0.0) + starts_s + lasts_s,
    ),
    times | st.none(),
    st.floats(0.0, 30.0),
    st.floats(0.0, 60.0) | st.none(),
)


def run(*executors: ExecutorLife) -> Run:
    return replace(run_of(), start_s=0.0, end_s=100.0, executors=list(executors))


def test_an_executor_counts_from_registration_and_costs_from_its_request() -> None:
    one = run(ExecutorLife(id="0", requested_s=10.0, registered_s=14.0, removed_s=50.0))
    assert registered(one) == Steps((0.0, 14.0, 50.0, 100.0), (0, 1, 0))
    assert paid(one) == Steps((0.0, 10.0, 50.0, 100.0), (0, 1, 0))


def test_without_a_known_request_the_cost_starts_at_registration() -> None:
    one = run(ExecutorLife(id="0", requested_s=None, registered_s=14.0, removed_s=None))
    assert paid(one) == registered(one) == Steps((0.0, 14.0, 100.0), (0, 1))


def test_without_executors_the_count_is_always_zero() -> None:
    assert registered(run()) == Steps((0.0, 100.0), (0,))
    assert registered(run()).mean == 0.0


@given(st.lists(lives, max_size=6))
def test_the_integral_is_the_sum_of_the_lifetimes_within_the_run(
    executors: list[ExecutorLife],
) -> None:
    alone = sum(registered(run(life)).integral_s for life in executors)
    assert registered(run(*executors)).integral_s == pytest.approx(alone)


@given(st.lists(lives, max_size=6))
def test_paid_time_is_never_less_than_registered_time(executors: list[ExecutorLife]) -> None:
    combined = run(*executors)
    assert paid(combined).integral_s >= registered(combined).integral_s - 1e-6
    assert 0 <= registered(combined).mean <= len(executors)
