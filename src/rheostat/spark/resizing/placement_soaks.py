"""Decides where state may be placed by default: each combination needs its own recorded soak test
of 10,000 moves with verified contents.

Moving state between executors exercises the code path of Spark's known state store bugs
(SPARK-43404, 46796, 47036, 49770, 51717, 55892), so results of another combination do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rheostat.spark.internals.coordinator import Coordinator
from rheostat.spark.sensing.query_shape import PROVIDER

# Rule of three: no wrong result in n trials bounds the true share by 3 / n (95 % confidence).
ENOUGH_MOVES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Soak:
    """A soak test that a combination has passed; ``checkpoint_format`` is
    ``spark.sql.streaming.stateStore.checkpointFormatVersion``.
    """

    spark: str
    provider: str
    checkpoint_format: int
    moves: int
    pauses: bool = False
    """Whether state was also loaded, and verified, in the pauses between batches."""

    object_store: bool = False
    """Whether the checkpoints were on an object store."""


_DEFAULT_PROVIDER = "HDFSBackedStateStoreProvider"
_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
_ROCKSDB = "RocksDBStateStoreProvider"
SOAKS = (
    Soak(spark="4.3.0", provider=_ROCKSDB, checkpoint_format=1, moves=10_106),
    Soak(spark="4.3.0", provider=_ROCKSDB, checkpoint_format=1, moves=14_585, pauses=True),
    Soak(spark="4.3.0", provider=_ROCKSDB, checkpoint_format=1, moves=10_118, object_store=True),
    Soak(spark="3.5.7", provider=_ROCKSDB, checkpoint_format=1, moves=10_213),
)
"""Each has a record in ``benchmarks/soaks``; ``docs/evidence/state-moves.md`` has the commands."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether state is placed, and why; ``loads``: also before the batch that needs it.

    State of checkpoints on object stores is placed, and loaded, only with the other two fields.
    """

    places: bool
    why: str
    loads: bool = False
    on_object_stores: bool = False
    loads_on_object_stores: bool = False


def verdict(
    mode: str, spark: str, provider: str, checkpoint_format: int, soaks: tuple[Soak, ...] = SOAKS
) -> Verdict:
    """Return whether state may be placed with this Spark, provider, format and mode.

    An object store needs its own soak, and loads in pauses one that included them.
    """
    if mode == "off":
        return Verdict(
            False,
            "placement is off: state stays where Spark has put it, new executors of a stateful"
            " query get none",
        )
    matching = [
        soak
        for soak in soaks
        if (soak.spark, soak.provider, soak.checkpoint_format)
        == (spark, provider, checkpoint_format)
    ]
    moves = max((soak.moves for soak in matching if not soak.object_store), default=0)
    passed = [soak for soak in matching if soak.moves >= ENOUGH_MOVES]
    forced = mode == "force"
    loads = forced or any(soak.pauses and not soak.object_store for soak in passed)
    on_object_stores = forced or any(soak.object_store for soak in passed)
    loads_on_object_stores = forced or any(soak.object_store and soak.pauses for soak in passed)
    what = f"Spark {spark}, {provider}, checkpoint format {checkpoint_format}"
    if moves >= ENOUGH_MOVES:
        also = ", also with loads in the pauses of the query" if mode == "auto" and loads else ""
        return Verdict(
            True,
            f"state moves with the executors: {what} has passed {moves:,} moves{also}",
            loads,
            on_object_stores,
            loads_on_object_stores,
        )
    if forced:
        return Verdict(
            True,
            f"placement is forced: {what} has passed {moves:,} of {ENOUGH_MOVES:,} moves",
            loads,
            on_object_stores,
            loads_on_object_stores,
        )
    return Verdict(
        False,
        f"state stays where Spark has put it: {what} has passed {moves:,} of the {ENOUGH_MOVES:,}"
        " moves of a soak; placement='force' moves it all the same",
    )


def placement_verdict(spark: Any, coordinator: Coordinator, mode: str) -> Verdict:
    """Return whether state is placed in this session (``auto``, ``force`` or ``off``), and why."""
    provider = str(spark.conf.get(PROVIDER, _DEFAULT_PROVIDER)).rpartition(".")[2]
    placement = verdict(mode, spark.version, provider, int(spark.conf.get(_FORMAT, "1")))
    missing = coordinator.cannot_place() if placement.places else None
    if missing:
        return Verdict(False, f"state stays where Spark has put it: {missing}")
    return placement
