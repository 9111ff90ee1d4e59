"""A stateful processor in pandas with two kinds of state."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql.streaming import StatefulProcessor


class RunningTotals(StatefulProcessor):  # type: ignore[misc]
    """Outputs ``key,n,total,md5`` of a key with every batch that contains rows of it; its state is
    a value of two numbers and a list of all values.
    """

    def init(self, handle: Any) -> None:
        """Create the states."""
        self._totals = handle.getValueState("totals", "n BIGINT, total BIGINT")
        self._payloads = handle.getListState("payloads", "payload STRING")

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Add the rows of a key to its state."""
        n, total = self._totals.get() if self._totals.exists() else (0, 0)
        for frame in rows:
            n, total = n + len(frame), total + int(frame["seq"].sum())
            for payload in frame["payload"].dropna():
                self._payloads.appendValue((payload,))
        self._totals.update((n, total))
        largest = max((payload for (payload,) in self._payloads.get()), default="")
        md5 = hashlib.md5(largest.encode(), usedforsecurity=False).hexdigest()
        yield pd.DataFrame({"value": [f"{key[0]},{n},{total},{md5}"]})

    def close(self) -> None:
        """Do nothing, because there is nothing to close."""
