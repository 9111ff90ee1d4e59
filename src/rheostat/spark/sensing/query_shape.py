"""Advice on the settings of a query for live scaling, given before anything is tried.

The module is pure. The costs that it names were measured (``docs/guides/right-shape.md``);
``rheostat doctor --measure`` repeats the measurement on the machine where it runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rheostat.errors import BadInput
from rheostat.model import Finding
from rheostat.state.proposed_count import proposed_count

Means = Literal["own", "newer", "none"]
_RESCALES, _RESCALED = (4, 3), (4, 0)

FEWEST, MOST = 24, 60
"""The advised number of state partitions: fewer limit the slots, more cost time in every batch."""

PARTITION_MS = (14, 45)
"""Milliseconds of slot time that one state partition costs per batch, on two machines."""

SPARK_PARTITIONS = 200
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
FILES = "spark.sql.streaming.checkpointFileManagerClass"


def rescaling_means(spark_version: str) -> Means:
    """Return which Spark repartitions the state of a query that ran on this version, such as
    ``4.2.1``: its ``own``, only a ``newer`` one, or ``none``: before 4.0 a checkpoint does not
    describe its operators.
    """
    major, minor, *_ = map(int, re.findall(r"\d+", spark_version))
    if (major, minor) < _RESCALED:
        return "none"
    return "own" if (major, minor) >= _RESCALES else "newer"


def rescale_command(means: Means, checkpoint: str, partitions: int) -> str:
    """Return the command that repartitions a stopped query, and the Python that it needs if that is
    another one; the alternative if there is no such command.
    """
    if means == "none":
        return (
            f"a first start, without a checkpoint, with spark.sql.shuffle.partitions={partitions}"
        )
    command = f"rheostat state repartition {checkpoint} --partitions {partitions}"
    return command if means == "own" else f"{command} of a Python with PySpark 4.3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The known properties of a stateful query; None is unknown.

    ``slots`` is the number of slots at the maximum size.
    """

    name: str = "a query"
    state_partitions: int | None = None
    slots: int | None = None
    trigger_s: float | None = None
    reads_all: bool | None = None
    """Whether every observed batch read the complete backlog: a limit of rows is unlikely."""


def checkpoint_files_class(spark_version: str) -> str:
    """Return the checkpoint file manager that renames local files in 16 ms instead of 90."""
    package = "org.apache.spark.sql.execution.streaming"
    if tuple(map(int, spark_version.split(".")[:2])) >= (4, 1):
        package += ".checkpointing"
    return f"{package}.FileSystemBasedCheckpointFileManager"


def shape(
    settings: Mapping[str, str],
    query: Query | None = None,
    *,
    spark_version: str,
    checkpoint: str | None = None,
) -> tuple[Finding, ...]:
    """Return findings about the settings, and about ``query`` if it is known.

    ``settings`` are Spark's; a setting of a session that is absent has Spark's default.
    ``checkpoint`` is the location of the checkpoint that the settings were read from, if any: it
    does not record all settings, and the file manager is advised for local disks only.
    """
    obstacles = [
        _new_partitions(settings),
        _provider(settings, recorded=checkpoint is not None),
        _file_manager(settings, spark_version, checkpoint),
    ]
    of_query = query_findings(query, spark_version, checkpoint) if query else ()
    return tuple(finding for finding in (*obstacles, *of_query) if finding)


def query_findings(
    query: Query, spark_version: str, checkpoint: str | None = None
) -> tuple[Finding, ...]:
    """Return findings about one query, independent of its settings."""
    means, place = rescaling_means(spark_version), checkpoint or "CHECKPOINT"
    findings = (_partitions(query, means, place), _trigger(query), _rows_limit(query))
    return tuple(finding for finding in findings if finding)


def _new_partitions(settings: Mapping[str, str]) -> Finding:
    topic, configured = "state partitions of new queries", _partitions_of(settings)
    if FEWEST <= configured <= MOST:
        return Finding(
            topic=topic, state="good", line=f"{configured}, from the first start of a query on"
        )
    text = (
        f"{configured}, from the first start of a query on, and fixed then; {FEWEST} to {MOST}"
        " are recommended"
    )
    return Finding(topic=topic, state="advice", line=text, setting=f"{SHUFFLE_PARTITIONS}={FEWEST}")


def _partitions_of(settings: Mapping[str, str]) -> int:
    text = settings.get(SHUFFLE_PARTITIONS, str(SPARK_PARTITIONS))
    if not text.isdecimal() or int(text) < 1:
        raise BadInput(f"{SHUFFLE_PARTITIONS} must be a whole number from 1, but it is {text!r}")
    return int(text)


def _partitions(query: Query, means: Means, checkpoint: str) -> Finding | None:
    partitions, topic = query.state_partitions, f"state partitions of {query.name}"
    if not partitions:
        return None
    # Too few partitions matter more than too many: the surplus slots cost money and cannot be used.
    if query.slots and partitions < query.slots:
        text = (
            f"{partitions} cannot use {query.slots} slots: {query.slots} or more partitions would;"
            f" {_changed_by(means, checkpoint, proposed_count(partitions, query.slots))}"
        )
        return Finding(topic=topic, state="advice", line=text)
    if partitions <= MOST:
        return Finding(topic=topic, state="good", line=str(partitions))
    low_s, high_s = (partitions * ms / 1000 for ms in PARTITION_MS)
    text = (
        f"{partitions} cost {low_s:.1f} to {high_s:.1f} s of slot time in every batch; {FEWEST} to"
        f" {MOST} are enough; {_changed_by(means, checkpoint, FEWEST)}"
    )
    return Finding(topic=topic, state="advice", line=text)


def _changed_by(means: Means, checkpoint: str, partitions: int) -> str:
    command = rescale_command(means, checkpoint, partitions)
    return command if means == "none" else f"{command} changes it while the query is stopped"


def _provider(settings: Mapping[str, str], recorded: bool) -> Finding:
    topic = "state store"
    if settings.get(PROVIDER) != ROCKSDB:
        text = (
            "on the heap of the executors, and read as a whole where it moves; RocksDB is neither"
            " (from a query's first start on)"
        )
        return Finding(topic=topic, state="advice", line=text, setting=f"{PROVIDER}={ROCKSDB}")
    # Only RocksDB has a changelog.
    changelog = settings.get(CHANGELOG)
    if changelog is None and recorded:
        text = "RocksDB; its state does not show yet whether it writes a changelog"
        return Finding(topic=topic, state="good", line=text)
    if (changelog or "false").lower() != "true":
        text = "RocksDB uploads whole files in every batch; a changelog is what has changed"
        return Finding(topic=topic, state="advice", line=text, setting=f"{CHANGELOG}=true")
    return Finding(topic=topic, state="good", line="RocksDB with changelog")


def _file_manager(
    settings: Mapping[str, str], spark_version: str, checkpoint: str | None
) -> Finding | None:
    topic, wanted = "checkpoint files", checkpoint_files_class(spark_version)
    if settings.get(FILES) == wanted:
        return Finding(topic=topic, state="good", line="renamed directly")
    if checkpoint and "://" in checkpoint and not checkpoint.startswith("file:"):
        return None
    text = (
        "on a local disk, files that are renamed directly save 0.36 s a batch with 24 state"
        " partitions (one machine's measurement)"
    )
    if checkpoint and FILES not in settings:
        text += "; a checkpoint does not record this setting: ignore it where it is set"
    return Finding(topic=topic, state="advice", line=text, setting=f"{FILES}={wanted}")


def _trigger(query: Query) -> Finding | None:
    topic = f"trigger of {query.name}"
    if query.trigger_s is None:
        return None
    if query.trigger_s == 0:
        text = (
            "batches run back to back, so every change of size meets a running batch; a trigger"
            " interval leaves room for it"
        )
        return Finding(topic=topic, state="advice", line=text)
    return Finding(topic=topic, state="good", line=f"a batch every {query.trigger_s:g} s")


def _rows_limit(query: Query) -> Finding | None:
    if query.reads_all is None:
        return None
    topic = f"rows limit of {query.name}"
    if not query.reads_all:
        return Finding(topic=topic, state="good", line="a batch takes a bounded number of rows")
    text = (
        "every batch read the entire backlog: after an outage the backlog is one batch, during"
        " which nothing can be changed; the source's option maxOffsetsPerTrigger, set to the rows"
        " of a few batches, limits it"
    )
    return Finding(topic=topic, state="advice", line=text)
