"""Write docs/concepts/rescaling.md: the executor lifecycle, from the table of the executor lifecycle.

python scripts/rescaling_diagrams.py      writes the page
"""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rheostat.protocols.executors.executor_lifecycle import EVENTS, IN, LIFE, OUT  # noqa: E402
from rheostat.protocols.executors.phase_limits import Waits  # noqa: E402

PAGE = ROOT / "docs" / "concepts" / "rescaling.md"
TEXT = """\
<!-- Made by scripts/rescaling_diagrams.py from src/rheostat/protocols/executors/executor_lifecycle.py; change that, not this page. -->

# How an application is rescaled

One table of phases and events defines the lifecycle of every executor. The controller keeps the phase of each, reads the facts (which
executors are registered, which one holds each state partition, whether a batch has ended) and takes the transitions whose events
hold. It requests the target again in every step, so an order that was not carried out is repeated. After a restart it
continues where it stopped.

## Scale-out

```mermaid
{way_in}
```

Two events are left out of the picture, because they stand in every phase of it: `lost` (to `gone`) and `chosen` (to
`candidate`). Not all executors have to come: those that did become ready, and the status says "waiting for 3 of 8 executors"
as long as the others are missing.

## Scale-in

```mermaid
{way_out}
```

`kept` is a newer, higher target that takes back an executor; one that was hidden from the sources cannot be shown again
and goes. When state returns to an executor that is hidden, it is sent away again, and the executor waits.

To **replace** an executor, one more is requested; when it is ready, the replaced one is scaled in.

## Standby executors

With `--standby N` (`standby=N` in `attach`), N executors above the target are kept registered and warm, without state: the
slow part of a scale-out, the start of a process and its warm-up, is done before it is needed. They are paid for like the
others, and target and standby together never exceed the ceiling.

* When the target rises, or an executor is lost or to be replaced, those in standby take state after the next batch, and
  others are started to replace them. An executor that is still being emptied is taken back before: its state need not move.
* When the target falls, those in standby stay; of the others the one with the least state is emptied and goes. If one is
  lacking in standby, the emptied one stands by instead of leaving.
* Where the cluster has no room for them, the target is still reached: the phase is `steady`, and the status says "waiting for
  1 of 1 standby executors".
* State that strays to one is sent back. Tasks without state run on them as on all others. Where state is not placed, none stand by.

## The state

State partitions move by the fewest moves that make the executors even, whole partitions of a query together, right after
a batch has ended, and are verified after the next. Onto one executor go only as many at once as half of
the pause before the next batch can load ([warm-executors.md](warm-executors.md#state-that-moves))
or, where there is none, half of that batch's slack;
partitions of an executor that was lost are sent elsewhere at once. What does not stay is sent again, {tries} times in a
row, then once every {rest_s:.0f} s, and the status says so.

`--shares` defines what is balanced: `count` (the default) makes numbers of partitions even, over all queries together; `bytes`
their bytes in the checkpoint, for skewed state: loads then differ by no more than the largest partition; `ranges` gives each executor
a contiguous range of every query's partitions, as Flink does with key groups: every change of size then moves about half of the state.

## The whole table

Of the transitions of a phase the first whose event holds is taken; an executor takes at most one in each of four
passes of a step: arrivals and departures, draining candidates, readiness, placement of state.

{table}

## How long it waits

| setting | default | then |
|---|---|---|
{waits}
"""


def page() -> str:
    """Return the text of the page."""
    waits = Waits()
    rows = "\n".join(
        f"| `{wait.name}` | {getattr(waits, wait.name):g} | {wait.metadata['then']} |"
        for wait in fields(waits)
    )
    drawn = {"way_in": LIFE.mermaid(IN), "way_out": LIFE.mermaid(OUT), "table": LIFE.rows(EVENTS)}
    return TEXT.format(**drawn, waits=rows, tries=waits.tries, rest_s=waits.rest_s)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
