"""Repartitions state like ``rheostat state repartition``, for a job stopped by its supervisor.

Usage: ``python -m rheostat.restart.repartition_process CHECKPOINT PARTITIONS SINK``; SINK is empty
without a file sink.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rheostat.errors import RheostatError
from rheostat.repartition.protocol.repartition_runner import quiet
from rheostat.repartition.spark_repartition import repartition_here


def main(arguments: Sequence[str]) -> int:
    """Repartition, and return the exit code; a refusal is one line on standard error."""
    checkpoint, partitions, sink = arguments
    try:
        repartition_here(checkpoint, int(partitions), quiet, sink, check_stopped=_stopped)
    except RheostatError as refused:
        sys.stderr.write(f"rheostat: {refused}\n")
        return refused.exit_code
    return 0


def _stopped(*_: object) -> None:
    """Skip the check of the logs: the supervisor has ended the process of the query."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
