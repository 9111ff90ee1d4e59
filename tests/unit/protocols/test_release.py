"""With ``min=0`` an application has no executors between two runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rheostat.protocols.release import LEAD_S, SETTLE_S, WORTH_S, Release


class Application:
    """Advances the time between decisions; ``quiet_s`` is what its queries report."""

    def __init__(self, size: int | None = 3, floor: int = 0) -> None:
        self.now, self.quiet_s, self.floor = 1000.0, 0.0, floor
        self.size, self.working = size, size or 0
        self.memory: Mapping[str, Any] = {}

    def tick(self, seconds: float = 0.0, quiet_s: float = 0.0) -> int | None:
        """Return the target, None where the policy decides; requested executors register at once,
        unless there were none.
        """
        self.now += seconds
        release = Release(lambda _: quiet_s, lambda _: self.floor)
        decision, self.memory = release.decide(self.working, self.size, self.memory, self.now)
        if decision is None:
            return None
        self.size = decision.target
        self.working = min(self.working, self.size)
        return self.size


def released(size: int) -> Application:
    """Return an application whose executors were released after its last run."""
    job = Application(size=size)
    job.tick(quiet_s=math.inf)
    job.tick(SETTLE_S, math.inf)
    return job


def test_executors_are_released_once_nothing_has_run_for_a_while() -> None:
    job = Application()
    assert job.tick(quiet_s=math.inf) is None
    assert job.tick(SETTLE_S / 2, math.inf) is None
    assert job.tick(SETTLE_S / 2, math.inf) == 0
    assert job.tick(3600.0, math.inf) == 0


def test_a_job_in_between_delays_the_release() -> None:
    job = Application()
    job.tick(quiet_s=math.inf)
    assert job.tick(SETTLE_S - 1, 0.0) is None
    assert job.tick(2, math.inf) is None
    assert job.tick(SETTLE_S, math.inf) == 0


def test_the_next_run_begins_with_the_size_of_the_last_until_an_executor_has_registered() -> None:
    job = released(3)
    assert job.tick(3600.0, 0.0) == 3
    assert job.tick(5.0, 0.0) == 3
    job.working = 1
    assert job.tick(5.0, 0.0) is None


def test_the_scheduled_floor_starts_executors_before_the_run() -> None:
    job = released(2)
    job.floor = 8
    assert job.tick(3600.0, math.inf) == 8
    job.working = 8
    assert job.tick(60.0, 0.0) is None


def test_a_run_that_begins_under_a_floor_gets_the_larger_size() -> None:
    job = released(2)
    job.floor = 8
    assert job.tick(3600.0, 0.0) == 8


def test_executors_are_back_before_the_batch_of_a_long_trigger() -> None:
    job = Application(size=2)
    job.tick(quiet_s=1800.0)
    assert job.tick(SETTLE_S, 1740.0) == 0
    assert job.tick(600.0, LEAD_S + 1) == 0
    assert job.tick(5.0, LEAD_S) == 2


def test_a_short_pause_keeps_the_executors() -> None:
    job = Application()
    job.tick(quiet_s=LEAD_S + WORTH_S - 1)
    assert job.tick(2 * SETTLE_S, LEAD_S + WORTH_S - 1) is None


def test_a_run_without_any_executor_gets_one() -> None:
    job = Application(size=0)
    assert job.tick() == 1


def test_an_unknown_size_is_left_to_the_start() -> None:
    assert Application(size=None).tick() is None


def test_a_clock_that_was_set_back_delays_the_release_only() -> None:
    job = Application()
    job.tick(quiet_s=math.inf)
    job.tick(-900.0, math.inf)
    assert job.tick(SETTLE_S, math.inf) == 0


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, LEAD_S, 200.0, 3600.0, math.inf]),
            st.integers(0, 4),
            st.sampled_from([1.0, 30.0, 90.0]),
        )
    )
)
def test_what_runs_is_never_without_executors(ticks: list[tuple[float, int, float]]) -> None:
    job = SimpleNamespace(size=2, now=0.0, memory={})
    for quiet_s, working, seconds in ticks:
        job.now += seconds
        release = Release(lambda _, quiet_s=quiet_s: quiet_s, lambda _: 0)  # type: ignore[misc]
        decision, job.memory = release.decide(working, job.size, job.memory, job.now)
        job.size = job.size if decision is None else decision.target
        assert job.size > 0 or quiet_s > LEAD_S
