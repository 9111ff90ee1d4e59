"""Prices of slot-hours by instance type, from a table that the user supplies."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rheostat.errors import BadInput

COLUMNS = ("instance_type", "price_per_hour", "slots")
OTHERS = "default"
"""The instance type whose row applies to all types without one."""


@dataclass(frozen=True, slots=True)
class Prices:
    """The price of a slot-hour by instance type, and of ``others``."""

    others: float | None = None
    by_type: Mapping[str, float] = field(default_factory=dict)

    def of(self, instance_type: str | None) -> float | None:
        """Return the price of a slot-hour; None if it is unknown."""
        return self.by_type.get(instance_type or OTHERS, self.others)


def read_prices(file: Path, others: float | None = None) -> Prices:
    """Return the prices of a CSV file with the columns ``instance_type``, ``price_per_hour`` (of an
    instance) and ``slots`` (of an instance).

    ``others`` is the price of a slot-hour of types that the file does not name. Raises BadInput for
    an invalid file, with the line.
    """
    try:
        with file.open(encoding="utf-8", newline="") as text:
            rows = list(csv.DictReader(text))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"the prices {file} cannot be read: {error}") from None
    if not rows or not set(COLUMNS) <= set(rows[0]):
        raise BadInput(f"the prices {file} need the columns {','.join(COLUMNS)} and a row")
    by_type = {
        row["instance_type"]: _slot_hour(row, f"{file}, line {number}")
        for number, row in enumerate(rows, start=2)
    }
    return Prices(by_type.get(OTHERS, others), by_type)


def _slot_hour(row: Mapping[str, str], where: str) -> float:
    try:
        price, slots = float(row["price_per_hour"]), float(row["slots"])
    except (TypeError, ValueError):
        price = slots = math.nan
    if not (0 <= price < math.inf and 0 < slots < math.inf):
        raise BadInput(
            f"{where}: price_per_hour must be 0 or more and slots above 0, such as 0.192 and 4, but"
            f" they are {row['price_per_hour']!r} and {row['slots']!r}"
        )
    return price / slots
