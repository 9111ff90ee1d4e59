"""A checkpoint's logs and metadata as Spark writes them, without any state."""

from __future__ import annotations

import json
from pathlib import Path

from rheostat.spark.sensing.query_shape import PROVIDER

SAVE = "stateStoreSave"


def plan_batch(
    folder: Path, batch: int, partitions: int | str, version: str = "v1", **settings: str
) -> None:
    conf = {"spark.sql.shuffle.partitions": str(partitions), **settings}
    metadata = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 1, "conf": conf})
    write_file(folder / "offsets" / str(batch), f"v1\n{metadata}\n{batch}")


def commit_batch(folder: Path, batch: int, **fields: object) -> None:
    version = "v2" if "stateUniqueIds" in fields else "v1"
    write_file(
        folder / "commits" / str(batch),
        f"{version}\n{json.dumps({'nextBatchWatermarkMs': 0} | fields)}",
    )


def write_operator(
    folder: Path, number: int = 0, name: str = SAVE, stores: tuple[str, ...] = ("default",)
) -> None:
    fields = {
        "operatorInfo": {"operatorId": number, "operatorName": name},
        "stateStoreInfo": [
            {"storeName": store, "numColsPrefixKey": 0, "numPartitions": 4} for store in stores
        ],
    }
    write_file(
        folder / "state" / str(number) / "_metadata" / "metadata", f"v1\n{json.dumps(fields)}"
    )


def write_file(file: Path, text: str) -> None:
    """Write a file atomically, as Spark does."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f".{file.name}.tmp")
    fresh.write_text(text)
    fresh.replace(file)


def complete_checkpoint(folder: Path, provider: str | None = None) -> Path:
    """Write a checkpoint with two committed batches and four partitions."""
    settings = {PROVIDER: provider} if provider else {}
    for batch in range(2):
        plan_batch(folder, batch, 4, **settings)
        commit_batch(folder, batch)
    write_operator(folder)
    return folder
