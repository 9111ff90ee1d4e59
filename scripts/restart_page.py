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

With `--actuator restart` the process that you start is a supervisor. It starts your script in a second process and takes
it through one table of phases and events. Its only memory is one line of state per step, flushed to disk before the step
is carried out. When a supervisor is killed, its script ends within a second or two; the next supervisor continues
from the last line. Usage: [guides/restart.md](../guides/restart.md).

```mermaid
{diagram}
```

The diagram omits the event `none`, which leads from every phase with a process to `stopped`.

* **Drain.** Each query stops after a batch, or while it runs none. A query that runs batches back to back has usually
  planned its next batch by then. That batch runs again after the start, with the same rows, because Spark keeps what
  it has planned.
* **Finish.** State can be repartitioned only while no batch is planned. Before a repartition, and only then, the script
  is started for one batch of each query (with the trigger `once` instead of its own).
* **Repartition** is `repartitioning -> stopped`, by [the protocol of a repartition](repartition.md), with every row
  verified. If it is refused, the reason is recorded, and the job starts with its existing state partitions.
* **Downtime** is the time from the end of the last query to the end of the first batch after the start.

## The complete table

In each phase, the first transition whose event holds is taken.

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
