"""Nexmark bids: every column is a pure function of (seed, bid number), so any split gives the same
data.

The rules are those of the Apache Beam generator (of 50 events 1 is a person, 3 are auctions, 46 are
bids; half of the bids go to the hot auction, three quarters come from the hot bidder), with the
first person's number added once, as Beam and nexmark-rs do. Bids are numbered alone: bid n is event
(n // 46) * 50 + 4 + n % 46. The creation time is no column here: it is given when the bids are
encoded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rheostat.workloads.counter import Numbers, below, uniform
from rheostat_lab.nexmark.bid_texts import CHANNELS, HOT_CHANNELS, texts

BIDS_PER_EPOCH = 46
EVENTS_PER_EPOCH = 50
FIRST_ID = 1000

_ACTIVE_PEOPLE = 1000
_IN_FLIGHT_AUCTIONS = 100
_LEAD = 10
_HOT_GROUP = 100
_EXTRA_MIN, _EXTRA_SPREAD = 54, 28  # 68 bytes +- 20 %: fills a bid of 32 bytes up to 100 on average

(
    _HOT_AUCTION,
    _AUCTION,
    _HOT_BIDDER,
    _BIDDER,
    _PRICE,
    _HOT_CHANNEL,
    _CHANNEL,
    _EXTRA,
    _EXTRA_LENGTH,
) = range(1, 10)


@dataclass(frozen=True, slots=True)
class Bids:
    """Consecutive bids as columns of equal length; texts are kept as indices into the tables of
    ``texts(seed)``.
    """

    seed: int
    id: Numbers
    auction: Numbers
    bidder: Numbers
    price: Numbers
    channel: Numbers
    extra: Numbers
    extra_length: Numbers

    def __len__(self) -> int:
        return len(self.id)

    def channels(self) -> list[str]:
        """Return the channel names."""
        names = texts(self.seed).channels
        return [names[i] for i in self.channel.tolist()]

    def urls(self) -> list[str]:
        """Return the addresses."""
        urls = texts(self.seed).urls
        return [urls[i] for i in self.channel.tolist()]

    def extras(self) -> list[str]:
        """Return the padding texts."""
        pool = texts(self.seed).pool
        return [
            pool[i : i + length]
            for i, length in zip(self.extra.tolist(), self.extra_length.tolist(), strict=True)
        ]


def bids(seed: int, first: int, count: int) -> Bids:
    """Return bids ``first`` to ``first + count - 1`` of a seed."""
    n = np.arange(first, first + count, dtype=np.int64)
    # In each epoch of 50 events the person and the auctions come before the bids.
    epoch = n // BIDS_PER_EPOCH
    hot_channel = uniform(seed, _HOT_CHANNEL, n) < 0.5
    return Bids(
        seed=seed,
        id=n,
        auction=_auction(seed, n, last=epoch * 3 + 2),
        bidder=_bidder(seed, n, last=epoch),
        # Beam's price: evenly distributed in its logarithm, in cents.
        price=np.rint(10.0 ** (6 * uniform(seed, _PRICE, n)) * 100).astype(np.int64),
        channel=np.where(
            hot_channel,
            below(seed, _CHANNEL, n, HOT_CHANNELS),
            HOT_CHANNELS + below(seed, _CHANNEL, n, CHANNELS),
        ),
        extra=below(seed, _EXTRA, n, texts(seed).starts),
        extra_length=_EXTRA_MIN + below(seed, _EXTRA_LENGTH, n, _EXTRA_SPREAD),
    )


def encode(batch: Bids, created_ms: int) -> list[bytes]:
    """Return one JSON object a bid, with ``date_time`` = ``created_ms`` (Unix milliseconds)."""
    table = texts(batch.seed)
    places, pool = table.places, table.pool
    tail = f',"date_time":{created_ms},"extra":"'
    columns = zip(
        batch.id.tolist(),
        batch.auction.tolist(),
        batch.bidder.tolist(),
        batch.price.tolist(),
        batch.channel.tolist(),
        batch.extra.tolist(),
        (batch.extra + batch.extra_length).tolist(),
        strict=True,
    )
    return [
        f'{{"id":{i},"auction":{a},"bidder":{b},"price":{p},{places[c]}{tail}{pool[x:y]}"}}'.encode()
        for i, a, b, p, c, x, y in columns
    ]


def _auction(seed: int, n: Numbers, last: Numbers) -> Numbers:
    hot = uniform(seed, _HOT_AUCTION, n) < 0.5
    # In the beginning there are fewer auctions than may be open at a time.
    low = np.maximum(last - _IN_FLIGHT_AUCTIONS, 0)
    cold = low + below(seed, _AUCTION, n, last - low + 1 + _LEAD)
    return FIRST_ID + np.where(hot, last // _HOT_GROUP * _HOT_GROUP, cold)


def _bidder(seed: int, n: Numbers, last: Numbers) -> Numbers:
    hot = uniform(seed, _HOT_BIDDER, n) < 0.75
    people = last + 1
    active = np.minimum(people, _ACTIVE_PEOPLE)
    cold = people - active + below(seed, _BIDDER, n, active + _LEAD)
    return FIRST_ID + np.where(hot, last // _HOT_GROUP * _HOT_GROUP + 1, cold)
