"""The common arguments of benchmarks with a stateful query."""

from __future__ import annotations

import argparse

from rheostat.cli.options import pairs
from rheostat.errors import BadInput


def add_job_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the number of hosts of a benchmark's job, its state store, and options
    of its session.
    """
    parser.add_argument(
        "--hosts",
        type=int,
        choices=(1, 3),
        default=1,
        help="Workers, on 127.0.0.1 to .3 (default 1)",
    )
    parser.add_argument(
        "--checkpoint-format",
        type=int,
        choices=(1, 2),
        default=2,
        help="format of the state's checkpoint (default 2)",
    )
    parser.add_argument(
        "--provider",
        choices=("rocksdb", "hdfs"),
        default="rocksdb",
        help="state store (default rocksdb)",
    )
    parser.add_argument(
        "--conf",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the session; may be repeated",
    )


def named_values(parser: argparse.ArgumentParser, given: list[str]) -> dict[str, str]:
    """Return the values of ``--conf`` by name; an invalid one ends the program with the reason."""
    try:
        return pairs(given)
    except BadInput as fault:
        parser.error(f"--conf: {fault}")
