import pytest

from rheostat.model import Observation
from rheostat.signals.last_resize import latest_size, resized


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        (3, 5, (10.0, 2)),
        (5, 3, (10.0, -2)),
        (3, 3, (20.0, 0)),
        (None, 3, (20.0, 0)),
        (3, None, (20.0, 0)),
    ],
)
def test_a_change_of_size_belongs_to_the_tick_that_asked_for_it(before, now, change):
    memory = {"seen": latest_size(Observation(t_s=10.0, executors=before))}
    assert resized(Observation(t_s=20.0, executors=now), memory) == change


def test_the_first_tick_sees_no_change():
    assert resized(Observation(t_s=20.0, executors=3), {}) == (20.0, 0)


def test_a_clock_that_was_put_back_makes_a_change_of_now():
    assert resized(Observation(t_s=20.0, executors=5), {"seen": [90_000.0, 3]}) == (20.0, 2)
