"""What decides the next step of a repartition: facts as values, and one condition per event."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rheostat.repartition.state_engine import StoreCount, StoreId

ABSENT, OURS, OTHERS = "absent", "ours", "others"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the logs and folders of a checkpoint show.

    ``lock`` and ``guard`` are the entries of the offset log at the repartition's batch and at the
    one after it, ``commit`` is the entry of the commit log: absent, ours, or another writer's.
    """

    back: bool = False
    drained: bool = True
    equal: bool = False
    lock: str = ABSENT
    guard: str = ABSENT
    commit: str = ABSENT
    unplaced: int = 0
    in_place: int = 0

    @property
    def gone_on(self) -> bool:
        """Tell whether the query has planned a batch with the new number."""
        return self.guard == OTHERS and self.lock != OTHERS


Condition = Callable[[Facts], bool]

CONDITIONS: Mapping[str, Condition] = {
    "unfit": lambda _: False,  # said by an error, before there are facts
    "fit": lambda _: True,
    "undrained": lambda facts: not facts.drained,
    "drained": lambda facts: facts.drained,
    "back": lambda facts: facts.back and not facts.gone_on,
    "overtaken": lambda facts: OTHERS in (facts.lock, facts.commit) and not facts.gone_on,
    "different": lambda facts: not facts.equal,
    "equal": lambda facts: facts.equal,
    "free": lambda facts: facts.lock == ABSENT and not facts.gone_on,
    "locked": lambda facts: OURS in (facts.lock, facts.guard),
    "unplaced": lambda facts: facts.unplaced > 0,
    "all placed": lambda facts: not facts.unplaced,
    "kept": lambda facts: facts.commit == OURS,
    "gone on": lambda facts: facts.gone_on,
    "left": lambda facts: facts.in_place > 0,
    "cleared": lambda facts: not facts.in_place and OURS not in (facts.lock, facts.guard),
}
"""When each event of the table holds."""


def events(facts: Facts) -> set[str]:
    """Return the events that hold."""
    return {event for event, holds in CONDITIONS.items() if holds(facts)}


def differences(
    before: Mapping[StoreId, StoreCount], after: Mapping[StoreId, StoreCount]
) -> tuple[str, ...]:
    """Return what is wrong with the new state, a sentence per store; nothing if all is well."""
    return tuple(
        sentence
        for store in sorted({*before, *after})
        for sentence in _store_differences(store, before.get(store), after.get(store))
    )


def _store_differences(
    store: StoreId, before: StoreCount | None, after: StoreCount | None
) -> Iterator[str]:
    name = f"store {store.name} of operator {store.operator}"
    if before is None or after is None:
        yield f"{name} is only {'after' if before is None else 'before'} the repartition"
        return
    if before.rows != after.rows:
        yield f"{name} held {before.rows} rows and holds {after.rows}"
    elif before.checksum != after.checksum:
        yield f"{name} holds {after.rows} rows, as before, but with other contents"
    if after.misplaced:
        yield f"{name} has {after.misplaced} rows in partitions that their keys' hashes do not name"
