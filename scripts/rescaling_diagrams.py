"""Write docs/concepts/rescaling.md: the protocols of a change of size, from the table that the saga runs.

python scripts/rescaling_diagrams.py      writes the page
"""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rheostat.rescaling.executors.executor_lifecycle import EVENTS, IN, LIFE, OUT  # noqa: E402
from rheostat.rescaling.executors.phase_limits import Waits  # noqa: E402

PAGE = ROOT / "docs" / "concepts" / "rescaling.md"
TEXT = """\
<!-- Made by scripts/rescaling_diagrams.py from src/rheostat/rescaling/executors/executor_lifecycle.py; change that, not this page. -->

# How an application changes its size

Every executor lives by one table of phases and events. The controller keeps the phase of each, looks at the facts (who is
registered, who holds which state partition, whether a batch has ended) and takes the transitions whose events hold. It
asks for the target again in every step, so nothing depends on an answer: what did not happen is seen as such and done
again. After a restart it goes on where it stood.

## The way in

```mermaid
{way_in}
```

Two events are left out of the picture, because they stand in every phase of it: `lost` (to `gone`) and `chosen` (to
`victim`). Not all executors have to come: those that did are settled, and the status says "waiting for 3 of 8 executors"
as long as the others are missing.

## The way out

```mermaid
{way_out}
```

`kept` is a newer, higher target that takes back an executor; one that was hidden from the sources cannot be shown again
and goes. When state returns to an executor that is hidden, it is sent away again, and the executor waits.

To **replace** an executor, one more is requested; when it has settled in its stead, the replaced one goes the way out.

## Standby executors

With `--standby N` (`standby=N` in `attach`), N executors above the target are kept registered and warm, without state: what
takes long in a scale-out, the start of a process and its warm-up, is over before it is needed. They are paid for like the
others, and target and standby together never exceed the ceiling.

* When the target rises, or an executor is lost or to be replaced, those in standby take state after the next batch, and
  others are started in their stead. An executor that is still being emptied is taken back before: its state need not move.
* When the target falls, those in standby stay; of the others the one with the least state is emptied and goes. If one is
  lacking in standby, the emptied one stands by instead of leaving.
* Where the cluster has no room for them, the job is as it should be: the phase is `steady`, and the status says "waiting for
  1 of 1 standby executors".
* State that strays to one is sent back. Tasks without state run on them as on all others. Where state is not placed, none stand by.

## The state

State partitions move by the fewest moves that make the executors even, whole partitions of a query together, right after
a batch has ended, and are verified after the next. Onto one executor go only as many at once as half of
the pause before the next batch can load ([warm-executors.md](warm-executors.md#state-that-moves))
or, where there is none, half of that batch's slack;
partitions of an executor that was lost are sent elsewhere at once. What does not stay is sent again, {tries} times in a
row, then once every {rest_s:.0f} s, and the status says so.

What counts as even is yours to say: `--shares count` (the default) makes numbers of partitions even, over all queries together; `bytes`
their bytes in the checkpoint, for skewed state: loads then differ by no more than the largest partition; `ranges` gives each executor
a contiguous range of every query's partitions, as Flink does with key groups: every change of size then moves about half of the state.

## The whole table

Of the transitions of a phase the first whose event holds is taken; an executor takes at most one in each of four
looks of a step: who came and went, who is chosen, who is ready, where the state goes.

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
        f"| `{each.name}` | {getattr(waits, each.name):g} | {each.metadata['then']} |"
        for each in fields(waits)
    )
    drawn = {"way_in": LIFE.mermaid(IN), "way_out": LIFE.mermaid(OUT), "table": LIFE.rows(EVENTS)}
    return TEXT.format(**drawn, waits=rows, tries=waits.tries, rest_s=waits.rest_s)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
