"""Runs the counting query of ``counting_query.py`` in a process of its own: folder, checkpoint, and
the first and the last new file.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.e2e.repartition import counting_query as counting


def main(folder: Path, checkpoint: str, first: int, after: int) -> None:
    spark = counting.session(counting.ROCKSDB, 3)
    counting.feed(folder, range(first, after))
    counting.run(spark, folder, checkpoint=checkpoint)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
