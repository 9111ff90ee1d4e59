"""Runs a sweep's cells anywhere, stores their rows as Parquet, and resumes after it was killed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rheostat.errors import BadInput
from rheostat.machine.atomic_file import replacing
from rheostat.policies.registry import create
from rheostat.sim.engine import NoJournal, Run, simulate
from rheostat.sim.measures import ELASTICITY, measures
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.bounds.scoring import bounds, job_of
from rheostat_lab.flink.flink_plant import FlinkPlant
from rheostat_lab.sweep.sweep_cell import BOUNDS, Cell, guards_for, plant_values
from rheostat_lab.sweep.sweep_faults import around
from rheostat_lab.sweep.sweep_plant import demand_over_time, plant_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row: TypeAlias = dict[str, Any]
Runner: TypeAlias = Callable[[Sequence[str]], Iterable[str]]
"""Runs cells, each as JSON, and yields the rows of each as a JSON list, in any order."""

CHUNK = 48
"""Number of cells per Spark job, which is the most that a kill loses."""

COMPARED = (
    "cost",
    "latency_mean_s",
    "latency_p50_s",
    "latency_p95_s",
    "latency_p99_s",
    "within",
    "worst_window",
    "late_s",
    "executors_mean",
    "rescalings",
    "executors_started",
    *ELASTICITY,
)
"""The numbers of a row by which policies are compared."""

NUMBERS = ("slot_hours", *COMPARED, "downtime_s", "lag_max_rows", "lag_end_rows")
TEXTS = ("key", "plant", "load", "faults", "policy", "parameters", "guards")


def run_cell(cell: Cell) -> list[Row]:
    """Run one cell and return its row; for its bounds two rows, the best fixed size (if there is
    one) and the clairvoyant.
    """
    if cell.policy == BOUNDS:
        return _bounds(cell)
    settings, plant = cell.settings, _plant(cell)
    ledger = _play(cell, plant).ledger
    demand = demand_over_time(cell, plant)
    measured = measures(ledger, settings.slo, warm_up_s=settings.warm_up_s, demand=demand)
    slots = _slots(cell)
    numbers = {name: getattr(measured, name) for name in NUMBERS if hasattr(measured, name)}
    numbers.update({name: getattr(measured.elasticity, name) for name in ELASTICITY})
    # The complete run including the warm-up, like the bounds.
    paid_s = ledger.paid.integral(0.0, ledger.end_s)
    cost = paid_s * slots + settings.rescale_cost * ledger.targets.changes(0.0)
    return [
        _row(
            cell,
            cell.policy,
            attained=measured.attained,
            slot_hours=measured.executor_hours * slots,
            cost=cost,
            **numbers,
        )
    ]


def play(cell: Cell) -> Run:
    """Run one cell that is not a bounds cell, and return the run instead of its measures."""
    return _play(cell, _plant(cell))


def sweep(
    cells: Sequence[Cell],
    folder: Path,
    run: Runner,
    *,
    chunk: int = CHUNK,
    done: Callable[[int, int], None] | None = None,
) -> None:
    """Run the cells without a row in ``folder``; the rows of each chunk become one Parquet file,
    which is written atomically.

    ``done(cells, all)`` is called after each chunk. Raises BadInput if the folder cannot be
    written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"the folder {folder} cannot be created: {error.strerror}") from None
    # By key, a hash of the complete cell, so that a changed cell is run again.
    kept = {row["key"] for row in rows(folder)}
    left = iter([cell for cell in cells if cell.key not in kept])
    ended = sum(cell.key in kept for cell in cells)
    if done:
        done(ended, len(cells))
    while batch := list(islice(left, chunk)):
        results = [row for text in run([cell.text for cell in batch]) for row in json.loads(text)]
        # Named by its first cell, so that two sweeps in one folder do not overwrite each other.
        _write(folder / f"rows-{batch[0].key}.parquet", results)
        ended += len(batch)
        if done:
            done(ended, len(cells))


def here(cells: Sequence[str]) -> Iterator[str]:
    """Run cells in this process."""
    yield from (json.dumps(run_cell(Cell.of(text))) for text in cells)


def on_spark(session: SparkSession) -> Runner:
    """Return a runner that distributes the cells as tasks of a Spark job, one task per cell.

    Fails when the workers of a remote master have no Rheostat installed.
    """

    def run(cells: Sequence[str]) -> Iterable[str]:
        frame = session.createDataFrame(
            [(number, text) for number, text in enumerate(cells)], "number int, cell string"
        )
        # By range, because hashing would put several cells into one task and none into others.
        spread = frame.repartitionByRange(len(cells), "number")
        return [
            row.rows
            for row in spread.select("cell").mapInArrow(_of_batches, "rows string").collect()
        ]

    return run


def rows(folder: Path) -> list[Row]:
    """Return all stored rows of a sweep in the order of their keys; columns that an older version
    lacks are None.

    Raises BadInput for a file that does not belong to a sweep.
    """
    import pyarrow as pa
    from pyarrow import parquet

    stored: list[Row] = []
    for path in sorted(folder.glob("rows-*.parquet")):
        try:
            stored += parquet.read_table(path).to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise BadInput(
                f"{path} cannot be read as a result of a sweep: {error}; delete it and start again"
            ) from None
    known: Row = {"faults": "", **dict.fromkeys(NUMBERS)}
    return sorted(({**known, **row} for row in stored), key=lambda row: (row["key"], row["policy"]))


def _of_batches(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        yield pa.RecordBatch.from_pydict({"rows": list(here(batch.column(0).to_pylist()))})


def _plant(cell: Cell) -> SparkPlant | FlinkPlant:
    values = plant_values(cell.plant_kind, cell.plant_parameters)
    start = (
        values.executors
        if isinstance(values, SparkParameters)
        else int(cell.plant_parameters.get("executors", 8))
    )
    return plant_of(
        values, cell.workload, executors=start, seconds=cell.settings.seconds, seed=cell.seed
    )


def _play(cell: Cell, plant: SparkPlant | FlinkPlant) -> Run:
    settings = cell.settings
    policy = create(cell.policy, cell.parameters, settings.slo)
    broken, guards = (
        around(plant, cell.fault_parameters, cell.seed),
        guards_for(settings, cell.guards),
    )
    return simulate(
        broken,
        policy,
        guards,
        until_s=settings.seconds,
        interval_s=settings.interval_s,
        journal=NoJournal(),
    )


def _slots(cell: Cell) -> int:
    return (
        int(cell.plant_parameters.get("slots_per_executor", 1)) if cell.plant_kind == "spark" else 1
    )


def _bounds(cell: Cell) -> list[Row]:
    settings = cell.settings
    values = plant_values(cell.plant_kind, cell.plant_parameters)
    assert isinstance(values, SparkParameters)  # the spec asks for bounds of Spark plants only  # noqa: S101
    job = job_of(
        values, limits=settings.limits, slo=settings.slo, rescale_cost=settings.rescale_cost
    )
    computed = bounds(job, cell.workload, settings.seconds)
    path = computed.clairvoyant.path
    result = [
        _row(
            cell, "(clairvoyant bound)", attained=path is not None, cost=computed.clairvoyant.lower
        )
    ]
    if path is not None:
        result.append(
            _row(
                cell,
                "(clairvoyant)",
                attained=True,
                cost=path.cost,
                within=1 - path.late_share,
                rescalings=path.rescalings,
            )
        )
    if computed.static is not None:
        result.append(
            _row(
                cell,
                "(best static)",
                attained=True,
                cost=computed.static_cost,
                executors_mean=computed.static,
                rescalings=0,
            )
        )
    return result


def _row(cell: Cell, policy: str, *, attained: bool, **numbers: float | None) -> Row:
    texts = {
        "key": cell.key,
        "plant": cell.plant,
        "load": cell.load,
        "faults": cell.faults,
        "policy": policy,
        "parameters": json.dumps(cell.parameters, sort_keys=True),
        "guards": json.dumps(cell.guards, sort_keys=True),
    }
    return {
        **texts,
        "seed": cell.seed,
        "attained": attained,
        **{name: _plain(numbers.get(name)) for name in NUMBERS},
    }


def _plain(value: float | None) -> float | None:
    return None if value is None else float(value)


def _write(path: Path, results: Sequence[Row]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    kinds = [(name, pa.string()) for name in TEXTS] + [
        ("seed", pa.int64()),
        ("attained", pa.bool_()),
    ]
    schema = pa.schema(kinds + [(name, pa.float64()) for name in NUMBERS])
    with replacing(path) as fresh:
        parquet.write_table(pa.Table.from_pylist(list(results), schema=schema), fresh)
