"""A rewrite with its entries in both logs, as the protocol writes them at its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rheostat.repartition.checkpoint import Checkpoint, read_checkpoint
from rheostat.repartition.spark_rewriter import SparkRewriter
from rheostat.repartition.state_engine import Rewrite, Rewritten, StateIds
from rheostat.spark.sensing.query_shape import SHUFFLE_PARTITIONS
from rheostat.storage.local_files import LocalFileSystem


def wanted(folder: Path, partitions: int) -> tuple[Checkpoint, Rewrite]:
    known = read_checkpoint(str(folder), LocalFileSystem())
    return known, Rewrite(
        source=known.state, batch=known.committed.batch + 1, partitions=partitions
    )


def repartition(spark: Any, folder: Path, partitions: int) -> Rewritten:
    known, rewrite = wanted(folder, partitions)
    done = SparkRewriter(spark).rewrite(rewrite)
    commit(folder, known, rewrite, done.ids)
    return done


def commit(folder: Path, known: Checkpoint, rewrite: Rewrite, ids: StateIds) -> None:
    version, metadata, *offsets = known.last.text.split("\n")
    content = json.loads(metadata)
    content["conf"][SHUFFLE_PARTITIONS] = str(rewrite.partitions)
    text = "\n".join([version, json.dumps(content), *offsets])
    (folder / "offsets" / str(rewrite.batch)).write_text(text)
    version, body = known.committed.text.split("\n", 1)
    content = json.loads(body)
    if ids:
        content["stateUniqueIds"] = ids
    (folder / "commits" / str(rewrite.batch)).write_text(f"{version}\n{json.dumps(content)}")
