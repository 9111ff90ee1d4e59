"""Measures how many Nexmark events a CPU second generates, encoded for Kafka as one JSON object
each.

Run: python benchmarks/nexmark_events.py --events 1000000 --passes 5
"""

from __future__ import annotations

import statistics
import time
from typing import Annotated

import typer

from rheostat_lab.nexmark.encoding import encode
from rheostat_lab.nexmark.events import KINDS, events, number_before

CREATED_MS = 1_763_662_000_000


def encoded(seed: int, first: int, count: int) -> int:
    """Generate and encode events of all kinds one by one; return the bytes of all."""
    size = 0
    for kind in KINDS:
        number = number_before(kind, first)
        batch = events(kind, seed, number, number_before(kind, first + count) - number)
        for record in encode(batch, CREATED_MS):
            size += len(record)
    return size


def main(
    count: Annotated[int, typer.Option("--events")] = 1_000_000,
    passes: int = 5,
    chunk: int = 10_000,
    seed: int = 7,
) -> None:
    """Print events per CPU second: the median of the passes, the minimum and the maximum."""
    size = encoded(seed, 0, chunk) / chunk  # builds the tables of texts, too
    rates = []
    for _ in range(passes):
        begin = time.process_time()
        for first in range(0, count, chunk):
            encoded(seed, first, min(chunk, count - first))
        rates.append(count / (time.process_time() - begin))
    typer.echo(
        f"{statistics.median(rates):,.0f} events per CPU second (n {passes}, {min(rates):,.0f} to"
        f" {max(rates):,.0f}), {size:.0f} bytes an event"
    )


if __name__ == "__main__":
    typer.run(main)
