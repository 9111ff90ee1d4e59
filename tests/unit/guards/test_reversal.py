"""A scale-in that was reversed at the same load is not repeated within an hour, then two."""

from collections.abc import Mapping

import pytest

from rheostat.errors import BadInput
from rheostat.guards import Reversal
from rheostat.model import Decision, Memory, Observation

TICK_S = 5.0


class Job:
    """A job whose size follows the guard's decision."""

    def __init__(self, size: int) -> None:
        self.size, self.now = size, 0.0
        self.memory: Memory = {}

    def tick(self, target: int, rate: float | None, minutes: float = 0.0) -> str:
        """Request a size at every tick for ``minutes``; return the last reason."""
        for _ in range(max(1, round(60 * minutes / TICK_S))):
            observation = Observation(
                t_s=self.now, executors=self.size, target=self.size, input_rows_per_s=rate
            )
            decision, self.memory = Reversal()(
                Decision(target=target, reason="asked"), observation, self.memory, self.now
            )
            self.size, self.now = decision.target, self.now + TICK_S
        return decision.reason


def reversed_at(rate: float | None) -> Job:
    job = Job(6)
    job.tick(6, rate, minutes=5)
    job.tick(4, rate)
    job.tick(6, rate, minutes=1)
    assert job.size == 6
    return job


def test_the_first_scale_in_and_every_scale_out_pass():
    job = reversed_at(52.0)
    job.tick(9, 52.0)
    assert job.size == 9


def test_a_scale_in_to_the_size_before_the_reversed_one_passes():
    job = reversed_at(52.0)
    job.tick(9, 52.0, minutes=1)
    assert "not below 6 executors" in job.tick(4, 52.0)
    assert job.size == 6


def test_a_job_that_is_below_the_size_before_the_reversed_scale_in_keeps_its_size():
    job = Job(6)
    job.tick(6, 52.0, minutes=5)
    job.tick(3, 52.0)
    job.tick(5, 52.0, minutes=1)
    assert "not below 5 executors" in job.tick(3, 52.0, minutes=50)
    assert job.size == 5


def test_a_reversed_scale_in_is_held_for_an_hour():
    job = reversed_at(52.0)
    assert "the last scale-in was reversed at this load" in job.tick(4, 52.0, minutes=58)
    assert job.size == 6
    job.tick(4, 52.0, minutes=2)
    assert job.size == 4


def reverse_after(job: Job, hours: float) -> None:
    job.tick(6, 52.0, minutes=60 * hours)
    job.tick(4, 52.0)
    job.tick(6, 52.0, minutes=1)
    assert job.size == 6


def test_each_reversal_at_the_same_load_doubles_the_hold():
    job = reversed_at(52.0)
    reverse_after(job, hours=1)
    job.tick(4, 52.0, minutes=118)
    assert job.size == 6
    job.tick(4, 52.0, minutes=2)
    assert job.size == 4


def test_a_hold_lasts_a_day_at_most():
    job = reversed_at(52.0)
    for hours in (1, 2, 4, 8, 16, 24):
        reverse_after(job, hours)
    job.tick(4, 52.0, minutes=60 * 24)
    assert job.size == 4


def test_a_changed_load_forgets_earlier_reversals():
    job = reversed_at(52.0)
    reverse_after(job, hours=1)
    job.tick(6, 90.0, minutes=5)
    job.tick(6, 52.0, minutes=5)
    reverse_after(job, hours=0)
    job.tick(4, 52.0, minutes=60)
    assert job.size == 4


@pytest.mark.parametrize("rate", [30.0, 90.0])
def test_a_changed_load_ends_the_hold(rate):
    job = reversed_at(52.0)
    job.tick(6, rate, minutes=5)
    job.tick(4, 52.0)
    assert job.size == 4


def test_a_rate_that_is_higher_for_half_a_minute_does_not_end_the_hold():
    job = reversed_at(52.0)
    job.tick(6, 72.0, minutes=0.5)
    job.tick(4, 52.0, minutes=50)
    assert job.size == 6


def test_a_scale_out_for_higher_load_is_not_a_reversal():
    job = Job(6)
    job.tick(4, 52.0)
    job.tick(4, 90.0, minutes=5)
    job.tick(6, 90.0, minutes=1)
    job.tick(4, 90.0)
    assert job.size == 4


def test_without_an_arrival_rate_nothing_is_held():
    job = reversed_at(None)
    job.tick(4, None)
    assert job.size == 4


def test_a_scheduled_change_is_not_a_reversal():
    job = Job(6)
    job.tick(4, 52.0)
    job.tick(4, 52.0)
    job.size = 6  # a scheduled floor begins
    job.tick(6, 52.0)
    job.tick(4, 52.0)
    assert job.size == 4


def test_a_clock_set_back_ends_the_hold():
    job = reversed_at(52.0)
    job.now -= 7200.0
    job.tick(4, 52.0)
    assert job.size == 4


def test_a_hold_of_an_earlier_version_continues_until_its_end():
    job = reversed_at(52.0)
    new = ("held_rate", "scaled_in_from")
    job.memory = {name: kept for name, kept in job.memory.items() if name not in new}
    job.memory["hold"] = {name: job.memory["hold"][name] for name in ("rate", "until_s")}
    job.tick(4, 52.0, minutes=58)
    assert job.size == 6
    job.tick(4, 52.0, minutes=2)
    assert job.size == 4


def test_a_hold_of_zero_is_rejected():
    with pytest.raises(BadInput, match="hold_s"):
        Reversal(hold_s=0.0)


def test_memory_holds_plain_values():
    job: Mapping[str, object] = reversed_at(52.0).memory
    assert set(job) == {
        "seen",
        "requested",
        "rate",
        "held_rate",
        "t_s",
        "scaled_in_rate",
        "scaled_in_from",
        "hold",
    }
