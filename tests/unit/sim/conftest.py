"""Journals of simulated runs, whose true parameters are known to a fit's test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest

from rheostat.guards import standard_guards
from rheostat.journal.folder import FolderJournal
from rheostat.model import Limits
from rheostat.policies.registry import create
from rheostat.sim.engine import simulate
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.loads.cosine import Cosine

TRUE = SparkParameters(
    executors=2,
    trigger_s=5.0,
    source_partitions=16,
    state_partitions=8,
    fixed_s=0.5,
    source_row_s=4e-4,
    state_row_s=4e-4,
    source_task_s=0.05,
    state_commit_s=0.05,
    cold_s=2.0,
    cold_state_s=0.0,
    start_s=6.0,
    task_noise=0.05,
    batch_noise=0.05,
)

Journaled: TypeAlias = Callable[..., Path]
"""(policy, initial executors, seconds) -> the folder of the run's journal."""


@pytest.fixture(scope="session")
def journaled(tmp_path_factory: pytest.TempPathFactory) -> Journaled:
    def run(
        policy: str = "measured-throughput", executors: int = 2, seconds: float = 1800.0
    ) -> Path:
        folder = tmp_path_factory.mktemp("run") / "journal"
        kept = FolderJournal(folder)
        load = Cosine(shift=2500, amplitude=2000, noise=100, period_s=900, hold_s=10)
        plant = SparkPlant(replace(TRUE, executors=executors), load, seed=5)
        simulate(
            plant,
            create(policy),
            standard_guards(Limits.between(1, 8)),
            until_s=seconds,
            interval_s=7.0,
            journal=kept,
        )
        kept.close()
        return folder

    return run
