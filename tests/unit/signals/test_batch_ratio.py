import pytest

from rheostat.model import InFlight, Observation
from rheostat.signals.batch_ratio import batch_ratio


@pytest.mark.parametrize(
    ("batch_s", "running_s", "trigger_s", "expected"),
    [
        (0.5, None, 1.0, 0.5),
        (0.5, 4.0, 1.0, 4.0),
        (0.5, 0.1, 1.0, 0.5),
        (None, 3.0, 2.0, 1.5),
        (2.0, None, 0.0, 0.5),
        (2.0, None, None, 0.5),
        (None, None, 1.0, None),
    ],
)
def test_the_longer_of_the_last_and_running_batch_counts(batch_s, running_s, trigger_s, expected):
    running = None if running_s is None else InFlight(elapsed_s=running_s)
    observation = Observation(t_s=0.0, batch_s=batch_s, trigger_s=trigger_s, in_flight=running)
    assert batch_ratio(observation, slo_s=8.0) == expected
