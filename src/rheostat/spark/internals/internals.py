"""Builds all parts that call Spark's internals, once per session.

``docs/operate/private-calls.csv`` lists the calls with their fallbacks and worst cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rheostat.spark.internals.block_managers import BlockManagers
from rheostat.spark.internals.compiled_classes import CompiledClasses
from rheostat.spark.internals.coordinator import Coordinator
from rheostat.spark.internals.executors import Executors
from rheostat.spark.internals.gateway import Gateway
from rheostat.spark.internals.hadoop_file_system import HadoopFileSystem, session_files
from rheostat.spark.internals.kubernetes_pods import KubernetesPods
from rheostat.spark.internals.placed_tasks import LocalityWaits, PlacedTasks, WarmupRunner
from rheostat.spark.internals.state_loads import OperatorStores, StateLoads
from rheostat.spark.internals.status_store import StatusStore
from rheostat.spark.internals.stream_executions import Queries
from rheostat.spark.sensing.rest import Rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Internals:
    """The parts that call Spark's internals."""

    gateway: Gateway
    executors: Executors
    block_managers: BlockManagers
    locality_waits: LocalityWaits
    queries: Queries
    files: HadoopFileSystem
    coordinator: Coordinator
    tasks: PlacedTasks
    warmup_runner: WarmupRunner
    state_loads: StateLoads
    status: StatusStore
    pods: KubernetesPods


def internals_of(spark: Any) -> Internals:
    """Return the internals of a classic session; a Spark Connect session has none."""
    gateway, context = Gateway(spark), spark.sparkContext
    classes, tasks = CompiledClasses(gateway), PlacedTasks(gateway)
    block_managers = BlockManagers(gateway, classes)
    executors = Executors(gateway, block_managers)
    coordinator = Coordinator(gateway, block_managers)
    return Internals(
        gateway=gateway,
        executors=executors,
        block_managers=block_managers,
        locality_waits=LocalityWaits(gateway),
        queries=Queries(gateway, classes),
        files=session_files(gateway),
        coordinator=coordinator,
        tasks=tasks,
        warmup_runner=WarmupRunner(gateway, tasks, executors),
        state_loads=StateLoads(gateway, classes, coordinator, tasks, OperatorStores(gateway)),
        status=StatusStore(gateway, Rest(context.uiWebUrl, context.applicationId)),
        pods=KubernetesPods(gateway),
    )
