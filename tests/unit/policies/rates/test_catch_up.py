from dataclasses import replace
from typing import Any

import pytest
from tests.unit.policies.fluid_job import FluidJob

from rheostat.errors import BadInput
from rheostat.guards import standard_guards
from rheostat.journal.folder import MemoryJournal
from rheostat.loop import Loop
from rheostat.model import Limits, Observation
from rheostat.policies.rates.catch_up import CatchUp
from rheostat.policies.registry import create
from rheostat.testing.contracts import follow


def observation(
    rate: float = 3000.0,
    lag_rows: float | None = 0.0,
    executors: int = 4,
    t_s: float = 0.0,
    **signals: Any,
) -> Observation:
    """Executors that process 1000 rows/s each."""
    usual: dict[str, Any] = {
        "batch_rows": int(rate),
        "batch_s": rate / 1000 / executors,
        "trigger_s": 1.0,
    }
    return Observation(
        t_s=t_s,
        executors=executors,
        input_rows_per_s=rate,
        lag_rows=lag_rows,
        **{**usual, **signals},
    )


@pytest.mark.parametrize(
    ("rate", "lag_rows", "target"),
    [
        (3000.0, 0.0, 4),  # keeps up; a change to fewer would need ceil(3 + 3 x 10 / 50) = 4
        (
            3300.0,
            46_000.0,
            4,
        ),  # (46000 - 2 x 3300) / 60 = 657: 3957 rows/s clear it without a change
        (
            3300.0,
            50_000.0,
            5,
        ),  # 4023 do not; with the downtime of a change (43400 + 33000) / 50 = 1528: 4828 rows/s
        (4100.0, 0.0, 5),  # 4100 + 4100 x 10 / 50 = 4920
        (4200.0, 0.0, 6),  # 4200 + 840 = 5040: the lag of the change requires another executor
        (2400.0, 0.0, 3),  # 2400 + 480 = 2880
        (2600.0, 0.0, 4),  # 3 would keep up, but not compensate for the change
        (0.0, 0.0, 1),
    ],
)
def test_the_size_clears_lag_and_rescale_downtime_in_time(rate, lag_rows, target):
    assert CatchUp().decide(observation(rate, lag_rows), {})[0].target == target


def test_measured_downtimes_replace_the_default():
    memory = {"downtimes_s": [0.5] * 10, "executors": 4, "lag_rows": 0.0, "disturbance": None}
    decision = CatchUp().decide(observation(2600.0), memory)[0]
    assert (decision.target, decision.evidence["downtime_s"]) == (3, 0.5)
    assert (
        CatchUp()
        .decide(observation(4200.0), {**memory, "downtimes_s": [0.5] * 9 + [30.0] * 3})[0]
        .target
        == 9
    )  # 4200 + 4200 x 30 / 30


def test_a_downtime_is_measured_and_scale_in_waits_until_it_settles():
    script = [
        observation(t_s=0.0),
        *(
            observation(1000.0, 9000.0 if n == 1 else 0.0, executors=5, t_s=10.0 * n)
            for n in range(1, 9)
        ),
    ]
    decisions, memory = follow(CatchUp(), script)
    assert [decision.target for decision in decisions] == [4, 5, 5, 5, 5, 5, 5, 2, 2]
    assert memory["downtimes_s"] == [9.0]


def test_a_downtime_equal_to_the_allowed_time_leaves_a_tenth():
    assert (
        CatchUp(downtime_s=60.0).decide(observation(4100.0), {})[0].target == 46
    )  # 4100 + 4100 x 60 / 6 = 45100


@pytest.mark.parametrize("absent", ["input_rows_per_s", "lag_rows", "executors", "batch_s"])
def test_a_missing_signal_keeps_the_size(absent):
    given: dict[str, Any] = {absent: None}
    decision = CatchUp().decide(replace(observation(6000.0), target=4, **given), {})[0]
    assert (decision.target, "unknown" in decision.reason) == (4, True)


def test_a_job_recovers_from_a_doubled_load_and_scales_in():
    job = FluidJob(lambda t: 1500.0 if t < 120 or t > 360 else 4200.0, executors=3, start_ticks=2)
    loop = Loop(
        sensor=job,
        policy=CatchUp(),
        guards=standard_guards(Limits(max_executors=10)),
        actuator=job,
        journal=MemoryJournal(),
    )
    records = [loop.step(5.0 * n) for n in range(121)]
    sizes = [record.target or 0 for record in records]
    assert max(sizes) >= 5
    assert sizes[-1] == 2
    assert all(
        (record.observation.lag_s or 0.0) < 3.0 for record in records[40:72] if record.observation
    )


@pytest.mark.parametrize(
    "given",
    [
        {"catch_up_s": 0.0},
        {"threshold_s": -1.0},
        {"quantile": 1.5},
        {"downtime_s": -2.0},
        {"samples": 0},
        {"settle_s": -3.0},
    ],
)
def test_an_invalid_parameter_is_rejected(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        create("catch-up", given)
