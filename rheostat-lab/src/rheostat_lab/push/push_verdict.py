"""What came out, beside what was acknowledged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rheostat_lab.push.sender import value_of


@dataclass(frozen=True, slots=True)
class PushVerdict:
    """Whether each acknowledged record came out once: ``missing`` lack, ``doubled`` came more than
    once, ``wrong`` have other values or were never sent. ``unacknowledged`` came out although their
    sender never heard so, which it may.
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
    """Return the verdict on rows (id, value) for the ids that were acknowledged, and those that
    were sent at all.
    """
    sent, came = set(tried), Counter[str]()
    wrong = 0
    for name, value in rows:
        came[name] += 1
        # The value follows from the id, so no copy of what was sent has to be kept.
        wrong += name not in sent or value != value_of(name)
    confirmed = set(acknowledged)
    return PushVerdict(
        acknowledged=len(confirmed),
        came=len(came),
        missing=len(confirmed - came.keys()),
        doubled=sum(count - 1 for count in came.values()),
        wrong=wrong,
        # No fault: the answer may have been lost on its way, after the record was taken.
        unacknowledged=len(came.keys() - confirmed),
    )
