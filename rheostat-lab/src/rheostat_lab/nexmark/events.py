"""Nexmark persons, auctions and bids: each column is a pure function of (seed, event number), so
that any split gives the same data.

The rules are those of the Apache Beam generator: of 50 events 1 is a person, 3 are auctions and 46
are bids; half of the bids go to the hot auction, three quarters of the bids come from the hot
bidder and three quarters of the auctions from the hot seller. Two defects of the Flink port
(nexmark/nexmark) are avoided: it adds the number of the first person twice to a bidder, so that
bidders and persons do not join, and it uses generators without a seed, so that two runs differ.
Deviations: the duration of an auction is that at 10,000 events per second, whatever the load; a
record is padded like one of average size.

The events of each kind have their own numbers: bid n is event (n // 46) * 50 + 4 + n % 46. A bid's
``id`` is its number, that of a person and of an auction is its number plus 1000. The creation time
is not a column; it is given when the events are encoded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from rheostat.errors import BadInput
from rheostat_lab.loads.counter import Numbers, below, uniform
from rheostat_lab.nexmark.texts import CHANNELS, HOT_CHANNELS, TEXTS, texts

EVENTS_PER_EPOCH = 50
FIRST_ID = 1000
PLACES = {"persons": (0, 1), "auctions": (1, 3), "bids": (4, 46)}
"""The first place of each kind among the 50 events of an epoch, and its number of events."""
KINDS = tuple(PLACES)

TEXT_COLUMNS: Mapping[str, Mapping[str, str]] = {
    "persons": {
        **{name: name for name in ("name", "email", "credit_card", "city", "state")},
        "extra": "person_extra",
    },
    "auctions": {
        "item_name": "item_name",
        "description": "description",
        "extra": "auction_extra",
    },
    "bids": {"channel": "channel", "url": "url", "extra": "bid_extra"},
}
"""The text columns of each kind, and the table of each column."""

_ACTIVE_PEOPLE = 1000
_IN_FLIGHT_AUCTIONS = 100
_LEAD = 10
_HOT_GROUP = 100
_CATEGORIES = 5
_FIRST_CATEGORY = 10
_LIFE_MS = 2 * (_IN_FLIGHT_AUCTIONS * EVENTS_PER_EPOCH // 3) // 10
"""Twice the time in which 100 auctions begin at 10,000 events per second, in milliseconds."""

(
    _HOT_AUCTION,
    _AUCTION,
    _HOT_BIDDER,
    _BIDDER,
    _PRICE,
    _HOT_CHANNEL,
    _CHANNEL,
    _EXTRA,
) = range(1, 9)
(_HOT_SELLER, _SELLER, _OPENING, _RESERVE, _CATEGORY, _LIFE) = range(101, 107)
_TEXT_LANE = 120


@dataclass(frozen=True, slots=True)
class Events:
    """Consecutive events of one kind as columns of equal length; text columns contain indices into
    the tables of ``texts(seed)``, ``life_ms`` the duration of an auction.
    """

    kind: str
    seed: int
    columns: Mapping[str, Numbers]

    def __len__(self) -> int:
        return len(self.columns["id"])

    def texts(self, column: str) -> list[str]:
        """Return a text column as texts."""
        table = texts(self.seed)[TEXT_COLUMNS[self.kind][column]]
        return [table[i] for i in self.columns[column].tolist()]


def events(kind: str, seed: int, first: int, count: int) -> Events:
    """Return ``count`` events of a kind from ``first`` on; raises BadInput for an unknown kind."""
    if kind not in KINDS:
        raise BadInput(f"there is no kind of events {kind!r}; there are {', '.join(KINDS)}")
    n = np.arange(first, first + count, dtype=np.int64)
    return Events(kind, seed, _MADE[kind](seed, n))


def number_before(kind: str, event: int) -> int:
    """Return the number of events of a kind among the first ``event`` events of all kinds."""
    epoch, offset = divmod(event, EVENTS_PER_EPOCH)
    start, width = PLACES[kind]
    return epoch * width + min(max(offset - start, 0), width)


def event_numbers(kind: str, n: Numbers) -> Numbers:
    """Return the numbers among all events of the n-th events of a kind."""
    start, width = PLACES[kind]
    return n // width * EVENTS_PER_EPOCH + start + n % width


def _bids(seed: int, n: Numbers) -> dict[str, Numbers]:
    epoch = n // PLACES["bids"][1]
    # In each epoch of 50 events, the person and the auctions precede the bids.
    channel = uniform(seed, _CHANNEL, n)
    is_hot = uniform(seed, _HOT_CHANNEL, n) < 0.5
    channel *= np.where(is_hot, HOT_CHANNELS, CHANNELS)
    channel = np.where(is_hot, 0, HOT_CHANNELS) + channel.astype(np.int64)
    hot_bidder = epoch // _HOT_GROUP * _HOT_GROUP + 1
    return {
        "id": n,
        "auction": FIRST_ID + _auction(seed, n, last=epoch * 3 + 2),
        "bidder": FIRST_ID
        + np.where(
            uniform(seed, _HOT_BIDDER, n) < 0.75, hot_bidder, _person(seed, _BIDDER, n, epoch)
        ),
        "price": _price(seed, _PRICE, n),
        "channel": channel,
        "url": channel,
        "extra": below(seed, _EXTRA, n, TEXTS),
    }


def _auctions(seed: int, n: Numbers) -> dict[str, Numbers]:
    epoch = n // PLACES["auctions"][1]
    opening = _price(seed, _OPENING, n)
    hot_seller = epoch // _HOT_GROUP * _HOT_GROUP
    return {
        "id": FIRST_ID + n,
        "initial_bid": opening,
        "reserve": opening + _price(seed, _RESERVE, n),
        "seller": FIRST_ID
        + np.where(
            uniform(seed, _HOT_SELLER, n) < 0.75, hot_seller, _person(seed, _SELLER, n, epoch)
        ),
        "category": _FIRST_CATEGORY + below(seed, _CATEGORY, n, _CATEGORIES),
        "life_ms": 1 + below(seed, _LIFE, n, _LIFE_MS),
        **_texts("auctions", seed, n),
    }


def _persons(seed: int, n: Numbers) -> dict[str, Numbers]:
    return {"id": FIRST_ID + n, **_texts("persons", seed, n)}


_MADE: Mapping[str, Callable[[int, Numbers], dict[str, Numbers]]] = {
    "persons": _persons,
    "auctions": _auctions,
    "bids": _bids,
}


def _texts(kind: str, seed: int, n: Numbers) -> dict[str, Numbers]:
    tables = texts(seed)
    return {
        column: below(seed, _TEXT_LANE + lane, n, len(tables[table]))
        for lane, (column, table) in enumerate(TEXT_COLUMNS[kind].items())
    }


def _price(seed: int, lane: int, n: Numbers) -> Numbers:
    """Return Beam's prices in cents, uniform in their logarithm."""
    return np.rint(10.0 ** (6 * uniform(seed, lane, n)) * 100).astype(np.int64)


def _auction(seed: int, n: Numbers, last: Numbers) -> Numbers:
    hot = uniform(seed, _HOT_AUCTION, n) < 0.5
    # At the beginning there are fewer auctions than may be open at a time.
    low = np.maximum(last - _IN_FLIGHT_AUCTIONS, 0)
    cold = low + below(seed, _AUCTION, n, last - low + 1 + _LEAD)
    return np.where(hot, last // _HOT_GROUP * _HOT_GROUP, cold)


def _person(seed: int, lane: int, n: Numbers, last: Numbers) -> Numbers:
    """Return one of the last thousand persons, or one of the next ten."""
    people = last + 1
    active = np.minimum(people, _ACTIVE_PEOPLE)
    return people - active + below(seed, lane, n, active + _LEAD)
