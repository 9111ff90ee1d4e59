from __future__ import annotations

import numpy as np
import pytest

from rheostat.sim.spark.spark_capacity import batch_time
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat_lab.bounds.scoring import job_of


@pytest.mark.parametrize(
    "parameters",
    [
        SparkParameters(),
        SparkParameters(state_partitions=0, source_skew=3.0, usl_sigma=0.05),
        SparkParameters(
            slots_per_executor=4, state_skew=2.5, usl_sigma=0.02, usl_kappa=0.001, selectivity=0.3
        ),
    ],
)
def test_bounds_use_the_batch_times_of_the_batch_model(
    parameters: SparkParameters,
) -> None:
    rows, executors = np.array([0.0, 10, 5000, 1e6]), np.array([1.0, 2, 7, 16])
    batch_s = batch_time(parameters.model, parameters.slots_per_executor)(
        rows[:, None], executors[None, :]
    )
    wanted = [
        [parameters.model.batch_s(r, int(n) * parameters.slots_per_executor) for n in executors]
        for r in rows
    ]
    np.testing.assert_allclose(batch_s, wanted)


def test_the_job_of_a_plant_includes_its_trigger_and_delays() -> None:
    job = job_of(
        SparkParameters(
            trigger_s=5, max_rows=900, start_s=12, warm_up_s=3, leave_s=2, slots_per_executor=2
        ),
        rescale_cost=7.0,
    )
    assert (
        job.trigger_s,
        job.max_rows,
        job.start_s,
        job.stop_s,
        job.slots_per_executor,
        job.rescale_cost,
    ) == (5, 900, 15, 2, 2, 7)
