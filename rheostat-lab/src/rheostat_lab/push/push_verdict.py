"""Compares the output with the acknowledged records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rheostat_lab.push.sender import value_of


@dataclass(frozen=True, slots=True)
class PushVerdict:
    """Whether each acknowledged record was output once: ``missing`` records were not, ``doubled``
    ones more than once, and ``wrong`` ones have other values or were never sent. ``unacknowledged``
    records were output although their sender received no acknowledgement, which is allowed.
    """

    acknowledged: int
    came: int
    missing: int
    doubled: int
    wrong: int
    unacknowledged: int

    @property
    def exact(self) -> bool:
        """Whether nothing is missing, doubled or wrong."""
        return not (self.missing or self.doubled or self.wrong)


def judge(
    acknowledged: Collection[str], tried: Collection[str], rows: Iterable[tuple[str, str]]
) -> PushVerdict:
    """Return the verdict on rows (id, value), from the acknowledged and all sent ids."""
    sent, came = set(tried), Counter[str]()
    wrong = 0
    for name, value in rows:
        came[name] += 1
        # The value follows from the id, so no copy of the sent records is needed.
        wrong += name not in sent or value != value_of(name)
    confirmed = set(acknowledged)
    return PushVerdict(
        acknowledged=len(confirmed),
        came=len(came),
        missing=len(confirmed - came.keys()),
        doubled=sum(count - 1 for count in came.values()),
        wrong=wrong,
        # Not an error: the acknowledgement may have been lost after the record was accepted.
        unacknowledged=len(came.keys() - confirmed),
    )
