from __future__ import annotations

from dataclasses import replace

import pytest

from rheostat.guards import standard_guards
from rheostat.journal.folder import MemoryJournal
from rheostat.model import Limits, Observation, Slo
from rheostat.policies.registry import create
from rheostat.replay.validate import Moment
from rheostat.sim.engine import simulate
from rheostat.sim.fitting.recorded_run import Recorded, recorded, recorded_ledger
from rheostat.sim.measures import Measures, measures
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.loads.cosine import Cosine

SLO = Slo(latency_s=10)


def _ran(policy: str, executors: int, interval_s: float) -> tuple[Measures, Recorded]:
    """Run a simulated job; return its true measures and the run recorded in its journal."""
    parameters = SparkParameters(
        executors=executors,
        trigger_s=5.0,
        source_row_s=4e-4,
        state_row_s=4e-4,
        start_s=6.0,
        task_noise=0.05,
    )
    load = Cosine(shift=2500, amplitude=2000, noise=100, period_s=900, hold_s=10)
    journal = MemoryJournal()
    done = simulate(
        SparkPlant(parameters, load, seed=5),
        create(policy),
        standard_guards(Limits.between(1, 8)),
        until_s=1200,
        interval_s=interval_s,
        journal=journal,
    )
    moments = [
        Moment(f"record {place}", record.observation)
        for place, record in enumerate(journal.records)
        if record.observation
    ]
    return measures(done.ledger, SLO), recorded({None: moments})


@pytest.mark.parametrize("interval_s", [2.0, 7.0])
@pytest.mark.parametrize(
    ("policy", "executors"), [("fixed", 3), ("fixed", 8), ("measured-throughput", 2)]
)
def test_a_recording_shows_what_really_happened(
    policy: str, executors: int, interval_s: float
) -> None:
    truth, run = _ran(policy, executors, interval_s)
    told = measures(recorded_ledger(run), SLO)
    assert told.within == pytest.approx(truth.within, abs=0.02)
    assert told.latency_mean_s == pytest.approx(truth.latency_mean_s, rel=0.05)
    assert told.latency_p99_s == pytest.approx(truth.latency_p99_s, rel=0.05)
    assert told.executor_hours == pytest.approx(truth.executor_hours, rel=0.05)
    assert told.executors_mean == pytest.approx(truth.executors_mean, rel=0.03)


def test_without_a_recorded_latency_it_is_a_batch_late_at_most() -> None:
    truth, run = _ran("fixed", 8, 2.0)
    blind = replace(
        run, observations=tuple(replace(each, latency_s=None) for each in run.observations)
    )
    told = measures(recorded_ledger(blind), SLO)
    assert truth.latency_mean_s is not None
    assert told.latency_mean_s is not None
    assert -0.5 <= told.latency_mean_s - truth.latency_mean_s <= 2.0


def test_rows_that_wait_at_the_end_are_not_committed() -> None:
    def seen(t_s: float, **more: float) -> Observation:
        given = {"executors": 1, "input_rows_per_s": 10.0, "lag_rows": 0.0, **more}
        return Observation(t_s=t_s, **given)  # type: ignore[arg-type]

    quiet = [seen(float(t), batch_s=1.0 + t / 100, batch_rows=10) for t in range(12)]
    stuck = [seen(float(t), lag_rows=10.0 * (t - 11)) for t in range(12, 60)]
    moments = [Moment(f"row {place}", each) for place, each in enumerate([*quiet, *stuck])]
    told = recorded_ledger(recorded({None: moments}))
    assert told.left_rows.sum() == pytest.approx(480)
    assert measures(told, SLO).attained is False
