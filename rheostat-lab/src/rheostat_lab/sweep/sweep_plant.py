"""The plant of a sweep's cell, of either kind, at any load and size, and its demand curve."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from rheostat.model import Slo
from rheostat.sim.demand import DemandCurve, demand_curve, demand_over
from rheostat.sim.plant import Floats, Steps
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.sim.workload import Constant, Workload
from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.flink.flink_plant import FlinkPlant
from rheostat_lab.sweep import batch_capacity
from rheostat_lab.sweep.sweep_cell import Cell, plant_values

# Long enough to detect a size that is 1 % too small: 9 s of rows are then queued.
_HELD_S = 900.0
_LOADS = 128
"""Number of loads in a cell's demand curve: eight for each of 16 executors."""


def plant_of(
    values: SparkParameters | FlinkJob, load: Workload, *, executors: int, seconds: float, seed: int
) -> SparkPlant | FlinkPlant:
    """Return a plant that starts with ``executors``; a Flink plant can run for ``seconds``."""
    if isinstance(values, SparkParameters):
        return SparkPlant(replace(values, executors=executors), load, seed=seed)
    arrivals = [load.rate_per_s(second + 0.5) for second in range(int(seconds) + 1)]
    return FlinkPlant(values, arrivals, executors, np.random.SeedSequence(seed))


def capacity_rows_per_s(values: SparkParameters | FlinkJob, executors: int) -> float:
    """Return the load at which the lag of ``executors`` executors begins to grow, by the plant's
    own model without noise.
    """
    if isinstance(values, SparkParameters):
        slots = executors * values.slots_per_executor
        return _sustained_rows_per_s(values, slots)
    return executors * values.task_rate(executors, 0.0)


def executors_by_model(
    values: SparkParameters, rate_per_s: float, slo: Slo, most: int
) -> int | None:
    """Return the executors that meet the objective at a constant load by the batch model, without
    noise; None if ``most`` do not.
    """
    model = values.model
    slots = next(
        (
            slots
            for slots in range(1, most * values.slots_per_executor + 1)
            if rate_per_s
            <= min(
                model.sustained_rows_per_s(slots, slo.latency_s, values.trigger_s),
                _sustained_rows_per_s(values, slots),
            )
        ),
        None,
    )
    return None if slots is None else math.ceil(slots / values.slots_per_executor)


def _sustained_rows_per_s(values: SparkParameters, slots: int) -> float:
    return batch_capacity.capacity_rows_per_s(
        values.model, slots, values.trigger_s, values.max_rows
    )


def demand_at(
    values: SparkParameters | FlinkJob,
    rates: tuple[float, ...],
    slo: Slo,
    most: int,
    *,
    seed: int = 0,
    held_s: float = _HELD_S,
) -> DemandCurve:
    """Return a plant's demand curve at these loads, ``held_s`` seconds each, without faults."""

    def plant(rate: float, executors: int) -> SparkPlant | FlinkPlant:
        return plant_of(values, Constant(rate), executors=executors, seconds=held_s, seed=seed)

    return demand_curve(plant, rates, slo, most, length_s=held_s)


def demand_over_time(cell: Cell, plant: SparkPlant | FlinkPlant) -> Steps:
    """Return the demand of a finished run by its mean load of each minute, at least the minimum."""

    def arrived(t_s: Floats) -> Floats:
        if isinstance(plant, SparkPlant):
            return plant.arrivals.rows_by(t_s)
        return np.interp(t_s, np.arange(len(plant.tasks.arrived)), plant.tasks.arrived)

    return demand_over(demand_of(cell), arrived, cell.settings.seconds, cell.settings.low)


def demand_of(cell: Cell) -> DemandCurve:
    """Return the demand curve of a cell's plant up to the capacity of its maximum size, searched
    once per process.

    All cells of a plant share it, on seed 0 and without faults, whatever their load and initial
    size.
    """
    # Without the initial size, which does not change the demand, so that plants share one search.
    parameters = {
        name: value for name, value in cell.plant_parameters.items() if name != "executors"
    }
    return _searched(
        cell.plant_kind,
        json.dumps(parameters, sort_keys=True),
        cell.settings.slo,
        cell.settings.high,
    )


@lru_cache(maxsize=64)
def _searched(kind: str, parameters: str, slo: Slo, most: int) -> DemandCurve:
    values = plant_values(kind, json.loads(parameters))
    limit = capacity_rows_per_s(values, most)
    rates = (
        tuple(limit * step / _LOADS for step in range(1, _LOADS + 1))
        if math.isfinite(limit)
        else (1.0,)
    )
    return demand_at(values, rates, slo, most)
