"""A scale-out that brings too little is not asked for again for a while, longer each time."""

from typing import Any

from rheostat.capacity.identify import with_batch
from rheostat.model import Observation
from rheostat.policies.foresight.gain import begun, cap, with_batch_gain


def known() -> dict[str, Any]:
    learnt: dict[str, Any] = {}
    for rows in (10_000, 20_000, 30_000) * 5:
        learnt = with_batch(learnt, 0.1 + rows / 4000, rows, 4, None)
    return learnt


def batches(trial: Any, batch_s: float, at_s: float) -> Any:
    for n in range(3):
        seen = Observation(t_s=at_s + n, executors=8, batch_s=batch_s + n / 1000, batch_rows=20_000)
        trial = with_batch_gain(trial, seen)
    return trial


def test_a_gain_as_promised_sets_no_cap() -> None:
    trial = batches(begun({}, 4, known()), 2.6, 100.0)
    assert cap(trial, Observation(t_s=110.0), 10.0) is None


def test_no_gain_caps_the_size_and_for_longer_each_time() -> None:
    trial: Any = {}
    for again in (600.0, 1200.0, 2400.0):
        trial = batches(begun(trial, 4, known()), 5.0, 100.0)
        assert cap(trial, Observation(t_s=110.0), 10.0) == 4
        assert cap(trial, Observation(t_s=95.0 + again), 10.0) == 4
        assert cap(trial, Observation(t_s=110.0 + again), 10.0) is None


def test_rows_that_are_late_lift_the_cap() -> None:
    trial = batches(begun({}, 4, known()), 5.0, 100.0)
    assert cap(trial, Observation(t_s=110.0, latency_s=11.0), 10.0) is None


def test_a_clock_that_was_put_back_lifts_the_cap() -> None:
    trial = batches(begun({}, 4, known()), 5.0, 1e6)
    assert cap(trial, Observation(t_s=50.0), 10.0) is None
