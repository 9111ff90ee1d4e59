"""Model-based policies control a small job for a day: they follow its load up and down without
falling behind."""

import itertools
import math
from typing import Any

import pytest
from tests.unit.policies.fluid_job import FluidJob

from rheostat.guards import standard_guards
from rheostat.journal.folder import MemoryJournal
from rheostat.loop import Loop
from rheostat.model import Limits
from rheostat.policies.registry import create

DAY_S = 1200.0
QUICKER: dict[str, dict[str, float]] = {  # their published times are for jobs that restart
    "flink": {
        "stabilization_interval_s": 10.0,
        "metrics_window_s": 20.0,
        "scale_down_interval_s": 60.0,
        "restart_time_s": 5.0,
        "catch_up_duration_s": 60.0,
    },
    "daedalus": {
        "first_s": 30.0,
        "loop_s": 15.0,
        "pause_s": 30.0,
        "grace_s": 60.0,
        "forecast_s": 60.0,
        "trend_s": 60.0,
        "recovery_s": 60.0,
        "up_downtime_s": 10.0,
        "down_downtime_s": 5.0,
    },
    "ds2-modern": {"factor": 0.33, "cooldown_s": 60.0},
    "ds2-modern-adapted": {"factor": 0.33, "cooldown_s": 60.0},
}


def load(t: float) -> float:
    """Return a rate between 1000 and 6000 rows/s (an executor processes 1000), with noise that
    differs in successive ticks."""
    return 3500.0 - 2500.0 * math.cos(2 * math.pi * t / DAY_S) + 200.0 * math.sin(1.7 * t)


@pytest.mark.parametrize(
    "name",
    ["catch-up", "conttune", "daedalus", "drs", "ds2", "ds2-modern", "ds2-modern-adapted", "flink"],
)
def test_model_based_policies_follow_a_day_without_falling_behind(name):
    given: Any = QUICKER.get(name)
    job = FluidJob(load, 1000.0, executors=2, start_ticks=2)
    loop = Loop(
        sensor=job,
        policy=create(name, given),
        guards=standard_guards(Limits(max_executors=14)),
        actuator=job,
        journal=MemoryJournal(),
    )
    records = [loop.step(5.0 * n) for n in range(int(DAY_S / 5) + 1)]
    sizes = [record.target or 0 for record in records]
    assert max(sizes[100:140]) >= 6
    assert sizes[-1] <= max(sizes) / 2
    late = sum((record.observation.lag_s or 0.0) > 10.0 for record in records if record.observation)
    assert late / len(records) < 0.05
    assert sum(a != b for a, b in itertools.pairwise(sizes)) < 40
