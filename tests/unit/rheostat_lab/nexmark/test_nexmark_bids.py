from __future__ import annotations

import math

import numpy as np

from rheostat_lab.nexmark.events import Events, events
from rheostat_lab.nexmark.texts import texts

N = 200_000
FIRST = 1_000_000
SAMPLE = events("bids", 7, FIRST, N).columns


def bids(seed: int, first: int, count: int) -> Events:
    return events("bids", seed, first, count)


def _agrees(share: float, wanted: float, n: int = N) -> bool:
    """Return whether a share of ``n`` draws is in its 99.99 % confidence interval."""
    return abs(share - wanted) < 3.9 * math.sqrt(wanted * (1 - wanted) / n)


def test_half_of_the_bids_go_to_the_hot_auction() -> None:
    last = SAMPLE["id"] // 46 * 3 + 2
    hot = float(np.mean(SAMPLE["auction"] == 1000 + last // 100 * 100))
    assert _agrees(hot, 0.5 + 0.5 / 111)  # one in 111 cold bids is on the hot auction


def test_three_quarters_of_the_bids_come_from_the_hot_bidder() -> None:
    hot = float(np.mean(SAMPLE["bidder"] == 1000 + SAMPLE["id"] // 46 // 100 * 100 + 1))
    assert _agrees(hot, 0.75 + 0.25 / 1010)


def test_cold_bids_range_from_the_oldest_open_auction_to_ten_future_ones() -> None:
    ahead = SAMPLE["auction"] - 1000 - (SAMPLE["id"] // 46 * 3 + 2)
    assert (ahead.min(), ahead.max()) == (-100, 10)


def test_cold_bidders_are_the_last_thousand_persons_and_ten_future_ones() -> None:
    ahead = SAMPLE["bidder"] - 1000 - (SAMPLE["id"] // 46 + 1)
    assert (ahead.min(), ahead.max()) == (-1000, 9)


def test_no_ids_precede_the_first_person() -> None:
    early = bids(7, 0, 46 * 20).columns
    assert early["bidder"].min() == 1000
    assert early["auction"].min() == 1000
    assert early["bidder"][:46].max() <= 1010
    assert early["auction"][:46].max() <= 1012


def test_prices_are_log_uniform_from_a_hundred_to_a_hundred_million() -> None:
    assert 100 <= SAMPLE["price"].min() < 101
    assert 0.99e8 < SAMPLE["price"].max() <= 1e8
    for decade in range(3, 8):
        assert _agrees(float(np.mean(SAMPLE["price"] < 10**decade)), (decade - 2) / 6)


def test_half_of_the_channels_are_the_four_popular_ones() -> None:
    names, counts = np.unique(SAMPLE["channel"], return_counts=True)
    assert _agrees(counts[:4].sum() / N, 0.5)
    assert names.max() == 10_003
    assert [texts(7)["channel"][i] for i in (0, 3, 4, 10_003)] == [
        "Google",
        "Apple",
        "channel-0",
        "channel-9999",
    ]


def test_nine_tenths_of_the_small_channels_have_an_id_in_their_url() -> None:
    urls = texts(7)["url"]
    numbered = [url for url in urls if "&channel_id=" in url]
    assert _agrees(len(numbered) / 10_000, 0.9, 10_000)
    assert not any("&channel_id=" in url for url in urls[:4])
    one = texts(7)["url"][4 + 1]
    assert one.endswith(("query=1", "&channel_id=2147483648"))  # bit 0 of 1 becomes the sign


def test_padding_extends_a_bid_to_a_hundred_bytes() -> None:
    lengths = [len(text) for text in events("bids", 7, FIRST, N).texts("extra")]
    assert (min(lengths), max(lengths)) == (54, 81)
    assert abs(sum(lengths) / N - 67.5) < 0.5


def test_another_seed_gives_different_bids() -> None:
    assert (bids(8, FIRST, 100).columns["price"] != SAMPLE["price"][:100]).all()


def test_the_data_of_a_seed_is_stable_across_versions() -> None:
    batch = bids(7, 0, 3)
    assert batch.columns["auction"].tolist() == [1002, 1000, 1003]
    assert batch.columns["bidder"].tolist() == [1001, 1001, 1001]
    assert batch.columns["price"].tolist() == [24513, 94816312, 1663]
    assert batch.texts("channel")[2].startswith("channel-")
    assert events("auctions", 7, 0, 3).columns["seller"].tolist() == [1003, 1000, 1000]
