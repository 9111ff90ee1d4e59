"""A checkpoint's logs and metadata as Spark writes them, without any state."""

from __future__ import annotations

import json
from pathlib import Path

from rheostat.spark.sensing.query_shape import PROVIDER

SAVE = "stateStoreSave"


def planned(
    folder: Path, batch: int, partitions: int | str, version: str = "v1", **settings: str
) -> None:
    conf = {"spark.sql.shuffle.partitions": str(partitions), **settings}
    metadata = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": 1, "conf": conf})
    written(folder / "offsets" / str(batch), f"v1\n{metadata}\n{batch}")


def committed(folder: Path, batch: int, **told: object) -> None:
    version = "v2" if "stateUniqueIds" in told else "v1"
    written(
        folder / "commits" / str(batch),
        f"{version}\n{json.dumps({'nextBatchWatermarkMs': 0} | told)}",
    )


def operator(
    folder: Path, number: int = 0, name: str = SAVE, stores: tuple[str, ...] = ("default",)
) -> None:
    told = {
        "operatorInfo": {"operatorId": number, "operatorName": name},
        "stateStoreInfo": [
            {"storeName": store, "numColsPrefixKey": 0, "numPartitions": 4} for store in stores
        ],
    }
    written(folder / "state" / str(number) / "_metadata" / "metadata", f"v1\n{json.dumps(told)}")


def written(file: Path, text: str) -> None:
    """Write a file atomically, as Spark does."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f".{file.name}.tmp")
    fresh.write_text(text)
    fresh.replace(file)


def whole(folder: Path, provider: str | None = None) -> Path:
    """Write a checkpoint with two committed batches and four partitions."""
    settings = {PROVIDER: provider} if provider else {}
    for batch in range(2):
        planned(folder, batch, 4, **settings)
        committed(folder, batch)
    operator(folder)
    return folder
