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
def test_a_size_change_is_dated_to_the_tick_that_requested_it(before, now, change):
    memory = {"seen": latest_size(Observation(t_s=10.0, executors=before))}
    assert resized(Observation(t_s=20.0, executors=now), memory) == change


def test_the_first_tick_has_no_size_change():
    assert resized(Observation(t_s=20.0, executors=3), {}) == (20.0, 0)


def test_after_a_clock_set_back_the_change_is_dated_now():
    assert resized(Observation(t_s=20.0, executors=5), {"seen": [90_000.0, 3]}) == (20.0, 2)
