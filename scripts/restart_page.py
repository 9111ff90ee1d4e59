"""Write docs/concepts/restart.md: the protocol of a restart, from the table that the supervisor runs.

python scripts/restart_page.py      writes the page
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rheostat.restart.restart_protocol import EVENTS, ORDERS, RESTART  # noqa: E402

PAGE = ROOT / "docs" / "concepts" / "restart.md"
TEXT = """\
<!-- Made by scripts/restart_page.py from src/rheostat/restart/restart_protocol.py; change that, not this page. -->

# How a job is restarted at another size

With `--actuator restart` the process that you start is a supervisor. It starts your script in a second process, and takes
it through one table of phases and events. Between two steps it remembers nothing but one line of its story, which is on
the disk before the step is carried out. A supervisor that was killed takes its script with it within a second or two; the next one
goes on from that line. How to use it: [guides/restart.md](../guides/restart.md).

```mermaid
{diagram}
```

`none` is left out of the picture: it leads from every phase with a process to `stopped`.

* **Drain.** Each query is stopped when it has ended a batch, or while it runs none. A query that runs batches back to
  back has mostly planned its next batch by then. That batch is run again after the start, with the same rows: Spark
  keeps what it has planned.
* **Finish.** State can be rescaled only where no batch is planned. So before a rescale, and only then, the script is started
  for one batch of each query (the trigger `once` stands in for its own).
* **Rescale** is `rescaling -> stopped`, by [the protocol of a repartition](repartition.md), every row verified. What it
  refuses, the story says, and the job starts with the state that it has.
* **Downtime** is the time from the end of the last query to the end of the first batch after the start.

## The whole table

Of the transitions of a phase the first whose event holds is taken.

{table}

| order | what it does |
|---|---|
{orders}
"""


def page() -> str:
    """Return the text of the page."""
    diagram = "\n".join(
        line for line in RESTART.mermaid(RESTART.phases).splitlines() if not line.endswith(": none")
    )
    orders = "\n".join(f"| {name} | {text} |" for name, text in ORDERS.items())
    return TEXT.format(diagram=diagram, table=RESTART.rows(EVENTS), orders=orders)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
