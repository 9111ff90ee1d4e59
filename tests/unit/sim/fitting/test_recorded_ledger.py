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


def _run_simulated(policy: str, executors: int, interval_s: float) -> tuple[Measures, Recorded]:
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
def test_a_recorded_ledger_matches_the_true_measures(
    policy: str, executors: int, interval_s: float
) -> None:
    truth, run = _run_simulated(policy, executors, interval_s)
    result = measures(recorded_ledger(run), SLO)
    assert result.within == pytest.approx(truth.within, abs=0.02)
    assert result.latency_mean_s == pytest.approx(truth.latency_mean_s, rel=0.05)
    assert result.latency_p99_s == pytest.approx(truth.latency_p99_s, rel=0.05)
    assert result.executor_hours == pytest.approx(truth.executor_hours, rel=0.05)
    assert result.executors_mean == pytest.approx(truth.executors_mean, rel=0.03)


def test_a_latency_derived_without_recorded_values_is_at_most_a_batch_late() -> None:
    truth, run = _run_simulated("fixed", 8, 2.0)
    blind = replace(
        run,
        observations=tuple(
            replace(observation, latency_s=None) for observation in run.observations
        ),
    )
    result = measures(recorded_ledger(blind), SLO)
    assert truth.latency_mean_s is not None
    assert result.latency_mean_s is not None
    assert -0.5 <= result.latency_mean_s - truth.latency_mean_s <= 2.0


def test_rows_waiting_at_the_end_are_not_committed() -> None:
    def observation(t_s: float, **more: float) -> Observation:
        given = {"executors": 1, "input_rows_per_s": 10.0, "lag_rows": 0.0, **more}
        return Observation(t_s=t_s, **given)  # type: ignore[arg-type]

    quiet = [observation(float(t), batch_s=1.0 + t / 100, batch_rows=10) for t in range(12)]
    stuck = [observation(float(t), lag_rows=10.0 * (t - 11)) for t in range(12, 60)]
    moments = [Moment(f"row {place}", item) for place, item in enumerate([*quiet, *stuck])]
    result = recorded_ledger(recorded({None: moments}))
    assert result.left_rows.sum() == pytest.approx(480)
    assert measures(result, SLO).attained is False
