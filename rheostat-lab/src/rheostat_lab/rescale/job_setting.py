"""How a benchmark's stateful query runs: trigger, state stores, options of its session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from rheostat.spark.sensing.query_shape import (
    FILES,
    SHUFFLE_PARTITIONS,
    checkpoint_files_class,
)
from rheostat_lab.demo.pipeline import QUERY_OPTIONS
from rheostat_lab.rescale import event_log

PARTITIONS = 24
_STATE = "spark.sql.streaming.stateStore"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The setting of the query; ``checkpoint_format`` 2 needs Spark 4.0 and RocksDB, and is
    otherwise always 1.
    """

    trigger_s: float = field(
        default=2.0, metadata={"help": "trigger interval; 0: batches back to back"}
    )
    service_ms: float = field(default=0.0, metadata={"help": "wait per row in its task"})
    partitions: int = field(default=PARTITIONS, metadata={"help": "state partitions"})
    maintenance_s: float = field(
        default=20.0,
        metadata={"help": "interval of the state stores' maintenance, which makes snapshots"},
    )
    checkpoint_format: int = field(default=2, metadata={"help": "format of the state's checkpoint"})
    provider: str = field(
        default="rocksdb", metadata={"help": "rocksdb or hdfs (Spark's default provider)"}
    )
    options: Mapping[str, str] = field(default_factory=dict)
    archive_flags: Sequence[str] = ()
    checkpoints: str = ""
    """Parent folder of the checkpoint, such as ``s3a://bucket/soak``; empty: that of the job."""

    def spark_options(self, folder: Path) -> dict[str, str]:
        """Return the options of the session in addition to those of scaling."""
        log = folder / "events"
        log.mkdir(parents=True, exist_ok=True)
        formats = self.provider == "rocksdb" and int(pyspark.__version__.split(".")[0]) >= 4
        own = {
            SHUFFLE_PARTITIONS: str(self.partitions),
            "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
            # On an object store Spark's own choice is tested.
            **({} if self.checkpoints else {FILES: checkpoint_files_class(pyspark.__version__)}),
            f"{_STATE}.maintenanceInterval": f"{round(self.maintenance_s * 1000)}ms",
            **(
                {f"{_STATE}.checkpointFormatVersion": str(self.checkpoint_format)}
                if formats
                else {}
            ),
            "spark.eventLog.dir": log.as_uri(),
        }
        plain = {
            name: value
            for name, value in QUERY_OPTIONS.items()
            if self.provider == "rocksdb" or not name.startswith(_STATE)
        }
        return {**plain, **event_log.OPTIONS, **own, **self.options}
