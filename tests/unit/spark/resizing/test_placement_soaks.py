from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rheostat.spark.resizing.placement_soaks import ENOUGH_MOVES, SOAKS, Soak, verdict

ROCKS = "RocksDBStateStoreProvider"
SOAK_RECORDS = Path(__file__).parents[4] / "benchmarks" / "soaks"


def soak(
    moves: int,
    spark: str = "4.3.0",
    provider: str = ROCKS,
    checkpoint_format: int = 2,
    pauses: bool = False,
    object_store: bool = False,
) -> Soak:
    return Soak(
        spark=spark,
        provider=provider,
        checkpoint_format=checkpoint_format,
        moves=moves,
        pauses=pauses,
        object_store=object_store,
    )


@pytest.mark.parametrize(
    ("mode", "soaks", "places"),
    [
        ("auto", (), False),
        ("auto", (soak(ENOUGH_MOVES - 1),), False),
        ("auto", (soak(ENOUGH_MOVES),), True),
        (
            "auto",
            (
                soak(ENOUGH_MOVES, spark="4.2.0"),
                soak(ENOUGH_MOVES, provider="other"),
                soak(ENOUGH_MOVES, checkpoint_format=1),
            ),
            False,
        ),
        ("force", (), True),
        ("off", (soak(ENOUGH_MOVES),), False),
    ],
)
def test_auto_places_state_only_for_fully_soaked_combinations(mode, soaks, places):
    assert verdict(mode, "4.3.0", ROCKS, 2, soaks).places is places


@pytest.mark.parametrize(
    ("mode", "soaks", "loads"),
    [
        ("auto", (soak(ENOUGH_MOVES),), False),
        ("auto", (soak(ENOUGH_MOVES), soak(ENOUGH_MOVES - 1, pauses=True)), False),
        ("auto", (soak(ENOUGH_MOVES), soak(ENOUGH_MOVES, checkpoint_format=1, pauses=True)), False),
        ("auto", (soak(ENOUGH_MOVES, pauses=True),), True),
        ("force", (), True),
        ("off", (soak(ENOUGH_MOVES, pauses=True),), False),
    ],
)
def test_state_is_preloaded_only_where_preloading_was_soaked(mode, soaks, loads):
    assert verdict(mode, "4.3.0", ROCKS, 2, soaks).loads is loads


ON_S3A = soak(ENOUGH_MOVES, object_store=True)
LOADED_ON_S3A = soak(ENOUGH_MOVES, pauses=True, object_store=True)


@pytest.mark.parametrize(
    ("mode", "soaks", "places", "on_object_stores", "loads"),
    [
        ("auto", (soak(ENOUGH_MOVES, pauses=True),), True, False, False),
        ("auto", (soak(ENOUGH_MOVES), LOADED_ON_S3A), True, True, True),
        ("auto", (soak(ENOUGH_MOVES, pauses=True), ON_S3A), True, True, False),
        ("auto", (soak(ENOUGH_MOVES), soak(9_999, object_store=True)), True, False, False),
        ("auto", (LOADED_ON_S3A,), False, False, False),
        ("force", (), True, True, True),
        ("off", (soak(ENOUGH_MOVES), LOADED_ON_S3A), False, False, False),
    ],
)
def test_state_on_an_object_store_needs_a_soak_of_its_own(
    mode, soaks, places, on_object_stores, loads
):
    decided = verdict(mode, "4.3.0", ROCKS, 2, soaks)
    assert (decided.places, decided.on_object_stores, decided.loads_on_object_stores) == (
        places,
        on_object_stores,
        loads,
    )


def test_a_refusal_reports_the_soak_progress_and_the_alternative():
    reason = verdict("auto", "4.3.0", ROCKS, 2, (soak(2500),)).why
    assert (
        "Spark 4.3.0, RocksDBStateStoreProvider, checkpoint format 2 has passed 2,500 of the 10,000"
        " moves" in reason
    )
    assert "placement='force'" in reason


def test_every_soak_has_a_correct_record():
    records = [json.loads(file.read_text()) for file in SOAK_RECORDS.glob("*.json")]
    passed = [
        record
        for record in records
        if record["exact"] and not record["mismatches"] and not record["failed_queries"]
    ]
    moves = {conditions(record): record["moves"] for record in passed}
    names = {ROCKS: "rocksdb", "HDFSBackedStateStoreProvider": "hdfs"}
    for entry in SOAKS:
        assert (
            moves[
                entry.spark,
                names[entry.provider],
                entry.checkpoint_format,
                entry.pauses,
                entry.object_store,
            ]
            == entry.moves
        )


def conditions(record: dict[str, Any]) -> tuple[str, str, int, bool, bool]:
    """Return the conditions: a query has pauses if it has a trigger interval; enough moves must be
    in rounds that loaded in them, and some executors must be warmed up."""
    loaded = sum(
        of_round["moves"]
        for of_round in record["rounds"]
        if of_round.get("preloads", 0) > of_round["moves"] / 2
    )
    pauses = record.get("trigger", 0) > 0 and loaded >= ENOUGH_MOVES and record["rehearsals"] > 0
    stored = record.get("s3a", False)
    return record["spark"], record["provider"], record["checkpoint_format"], pauses, stored
