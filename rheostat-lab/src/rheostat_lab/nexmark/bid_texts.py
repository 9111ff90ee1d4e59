"""The texts of bids: channels with their addresses, and one long random text that padding is cut
from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rheostat.workloads.counter import below, uniform

CHANNELS = 10_000
_HOT = ("Google", "Facebook", "Baidu", "Apple")
HOT_CHANNELS = len(_HOT)

_POOL_BYTES = 1 << 20
_LONGEST_CUT = 128
_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", dtype=np.uint8)
_POOL, _SEGMENT_LENGTH, _SEGMENT_LETTER, _SEGMENT_SPECIAL, _WITH_CHANNEL_ID = range(21, 26)


@dataclass(frozen=True, slots=True)
class Texts:
    """Tables by channel index (the four hot channels first) and the pool of random letters."""

    channels: tuple[str, ...]
    urls: tuple[str, ...]
    places: tuple[str, ...]
    """Channel and address of each index, written as the middle of a JSON object."""

    pool: str
    starts: int
    """Texts of the pool may start at 0 to ``starts`` - 1."""


@lru_cache(maxsize=4)
def texts(seed: int) -> Texts:
    """Return the tables of a seed; built once (about 50 ms) and kept."""
    channels = (*_HOT, *(f"channel-{i}" for i in range(CHANNELS)))
    urls = _urls(seed)
    places = tuple(
        f'"channel":"{channel}","url":"{url}"' for channel, url in zip(channels, urls, strict=True)
    )
    # One long text that all padding is cut from: drawing each bid's own would cost most of the
    # time.
    letters = _LETTERS[below(seed, _POOL, np.arange(_POOL_BYTES), 26)]
    return Texts(
        channels=channels,
        urls=urls,
        places=places,
        pool=letters.tobytes().decode("ascii"),
        # No cut may run over the end of the pool.
        starts=_POOL_BYTES - _LONGEST_CUT,
    )


def _urls(seed: int) -> tuple[str, ...]:
    segments = _segments(seed, 3 * (HOT_CHANNELS + CHANNELS))
    with_id = uniform(seed, _WITH_CHANNEL_ID, np.arange(CHANNELS)) < 0.9
    endings = [""] * HOT_CHANNELS + [
        f"&channel_id={_channel_id(i)}" if with_id[i] else "" for i in range(CHANNELS)
    ]
    paths = zip(segments[0::3], segments[1::3], segments[2::3], endings, strict=True)
    return tuple(
        f"https://www.nexmark.com/{a}/{b}/{c}/item.htm?query=1{ending}" for a, b, c, ending in paths
    )


def _segments(seed: int, count: int) -> list[str]:
    """Return texts of three or four letters, each letter an underscore once in 13 times."""
    draws = np.arange(4 * count)
    special = uniform(seed, _SEGMENT_SPECIAL, draws) < 1 / 13
    letters = np.where(
        special, np.uint8(ord("_")), _LETTERS[below(seed, _SEGMENT_LETTER, draws, 26)]
    )
    text = letters.astype(np.uint8).tobytes().decode("ascii")
    lengths = 3 + below(seed, _SEGMENT_LENGTH, np.arange(count), 2)
    return [text[4 * i : 4 * i + length] for i, length in enumerate(lengths.tolist())]


def _channel_id(index: int) -> int:
    """Return the 32 bits of ``index`` in reverse order, read as a signed number, without its
    sign.
    """
    reverse = int(f"{index:032b}"[::-1], 2)
    return abs(reverse - (1 << 32) if reverse >> 31 else reverse)
