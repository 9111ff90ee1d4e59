"""The tables from which the texts of events are taken: an event contains indices into them."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import TypeAlias

import numpy as np

from rheostat_lab.loads.counter import Numbers, below, uniform

Tables: TypeAlias = dict[str, tuple[str, ...]]
"""Texts by table."""

CHANNELS = 10_000
HOT_CHANNELS = 4
TEXTS = 4096
"""Entries of a table of random texts; drawing texts for each event would take most of the time."""

_HOT = ("Google", "Facebook", "Baidu", "Apple")
_FIRST_NAMES = (
    *("Peter", "Paul", "Luke", "John", "Saul", "Vicky"),
    *("Kate", "Julie", "Sarah", "Deiter", "Walter"),
)
_LAST_NAMES = (
    *("Shultz", "Abrams", "Spencer", "White", "Bartels"),
    *("Walton", "Smith", "Jones", "Noris"),
)
_CITIES = (
    "Phoenix",
    "Los Angeles",
    "San Francisco",
    "Boise",
    "Portland",
    "Bend",
    "Redmond",
    "Seattle",
    "Kent",
    "Cheyenne",
)
_STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
_PADDING = {"bid_extra": 68, "auction_extra": 381, "person_extra": 127}
"""Bytes that fill a record up to the reference's average (bid 100, auction 500, person 200), given
the average of its other columns; each padding varies by up to 20 %."""

_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", dtype=np.uint8)
_SEGMENT_LETTER, _SEGMENT_LENGTH, _WITH_CHANNEL_ID, _CARD, _PADS = 22, 23, 25, 26, 30


@lru_cache(maxsize=4)
def texts(seed: int) -> Tables:
    """Return the tables of a seed, built once (about 0.1 s) and cached."""
    return {
        "channel": (*_HOT, *(f"channel-{i}" for i in range(CHANNELS))),
        "url": _urls(seed),
        "name": tuple(f"{first} {last}" for first, last in product(_FIRST_NAMES, _LAST_NAMES)),
        "email": _emails(seed),
        "credit_card": _cards(seed),
        "city": _CITIES,
        "state": _STATES,
        "item_name": tuple(_words(seed, 40, TEXTS, 3, 20)),
        "description": tuple(_words(seed, 43, TEXTS, 3, 100)),
        **{
            name: tuple(_words(seed, _PADS + 3 * lane, TEXTS, *_within_a_fifth(size), special=0.0))
            for lane, (name, size) in enumerate(_PADDING.items())
        },
    }


def _within_a_fifth(size: int) -> tuple[int, int]:
    return round(0.8 * size), round(1.2 * size)


def _urls(seed: int) -> tuple[str, ...]:
    segments = _words(seed, _SEGMENT_LETTER - 1, 3 * (HOT_CHANNELS + CHANNELS), 3, 5, separator="_")
    with_id = uniform(seed, _WITH_CHANNEL_ID, np.arange(CHANNELS)) < 0.9
    endings = [""] * HOT_CHANNELS + [
        f"&channel_id={_channel_id(i)}" if with_id[i] else "" for i in range(CHANNELS)
    ]
    paths = zip(segments[0::3], segments[1::3], segments[2::3], endings, strict=True)
    return tuple(
        f"https://www.nexmark.com/{a}/{b}/{c}/item.htm?query=1{ending}" for a, b, c, ending in paths
    )


def _emails(seed: int) -> tuple[str, ...]:
    names, hosts = _words(seed, 46, TEXTS, 3, 7), _words(seed, 49, TEXTS, 3, 5)
    return tuple(
        f"{name.replace(' ', '')}@{host.replace(' ', '')}.com"
        for name, host in zip(names, hosts, strict=True)
    )


def _cards(seed: int) -> tuple[str, ...]:
    groups = below(seed, _CARD, np.arange(4 * TEXTS), 10_000).reshape(TEXTS, 4).tolist()
    return tuple(" ".join(f"{group:04d}" for group in card) for card in groups)


def _words(
    seed: int,
    lane: int,
    count: int,
    shortest: int,
    limit: int,
    separator: str = " ",
    special: float = 1 / 13,
) -> list[str]:
    """Return random texts of ``shortest`` to ``limit`` - 1 letters, of which a share ``special`` is
    the separator.
    """
    width = limit - 1
    draws = np.arange(count * width)
    letters = _LETTERS[below(seed, lane + 1, draws, 26)]
    if special:
        letters = np.where(
            uniform(seed, lane, draws) < special, np.uint8(ord(separator)), letters
        ).astype(np.uint8)
    pool = letters.tobytes().decode("ascii")
    lengths: Numbers = shortest + below(seed, lane + 2, np.arange(count), limit - shortest)
    return [
        pool[width * i : width * i + length].strip() for i, length in enumerate(lengths.tolist())
    ]


def _channel_id(index: int) -> int:
    """Return the absolute value of the reversed 32 bits of ``index``, read as a signed number."""
    reverse = int(f"{index:032b}"[::-1], 2)
    return abs(reverse - (1 << 32) if reverse >> 31 else reverse)
