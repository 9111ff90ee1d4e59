from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat_lab.rescale.disturbance import MANY, Timed, Window, disturbance, references_s


def batches(start_s: float, durations_s: list[float], every_s: float = 2.0) -> list[Timed]:
    return [
        Timed(start_s + i * every_s, start_s + i * every_s + duration, duration)
        for i, duration in enumerate(durations_s)
    ]


CALM = {2: batches(0.0, [1.0] * 9 + [1.2]), 4: batches(100.0, [0.5] * 10)}


def test_the_worst_batch_is_compared_with_the_steady_batch_at_its_size() -> None:
    rescale = batches(50.0, [1.0, 1.5, 3.0, 1.0])
    result = disturbance(rescale, [Window("in", 50.0, 58.0, 2)], CALM)
    assert (result.n, result.batches_per_window) == (1, 4)
    assert result.values == pytest.approx((2.0,))
    assert result.p95 is None
    assert result.max == pytest.approx(2.0)


def test_the_control_is_the_maximum_over_equally_long_calm_windows() -> None:
    result = disturbance(batches(50.0, [1.0] * 5), [Window("out", 50.0, 60.0, 4)], CALM)
    # The 10 calm batches per size give two windows of five each; only the last one at 2 slots
    # contains the 1.2.
    assert sorted(result.control_values) == pytest.approx([0.0, 0.0, 0.0, 0.2])
    assert result.control_max == pytest.approx(0.2)
    assert result.control_median_ratio == 1.0
    assert result.values == pytest.approx((1.0 / 0.5 - 1.0,))


def test_a_batch_belongs_to_a_window_if_they_overlap() -> None:
    window = Window("in", 10.0, 20.0, 2)
    assert [
        window.holds(Timed(start, commit, 1.0))
        for start, commit in ((8, 10), (9, 10.5), (12, 13), (19.9, 30), (20, 21))
    ] == [
        False,
        True,
        True,
        True,
        False,
    ]


def test_without_steady_batches_at_its_size_a_window_is_ignored() -> None:
    result = disturbance(
        batches(50.0, [1.0]), [Window("in", 50.0, 52.0, 3), Window("in", 90.0, 92.0, 2)], CALM
    )
    assert (result.n, result.median, result.max, result.control_n) == (0, None, None, 0)


def test_few_steady_batches_form_one_shorter_control_window() -> None:
    result = disturbance(
        batches(50.0, [1.0, 2.0, 1.0]), [Window("in", 50.0, 56.0, 2)], {2: batches(0.0, [1.0, 1.0])}
    )
    assert (result.n, result.control_n, result.batches_per_window) == (1, 1, 3)


def test_a_95th_percentile_needs_thirty_rescales() -> None:
    windows = [Window("in", 1000.0 + 2 * i, 1002.0 + 2 * i, 2) for i in range(MANY)]
    rescales = batches(1000.0, [1.0 + i / 10 for i in range(MANY)])
    assert disturbance(rescales, windows, CALM).p95 == pytest.approx(0.95 * (MANY - 1) / 10)
    assert disturbance(rescales, windows[1:], CALM).p95 is None


@given(st.lists(st.floats(0.1, 10.0), min_size=40, max_size=80), st.integers(1, 6))
def test_ineffective_rescales_are_disturbed_as_much_as_the_control(
    durations_s: list[float], length: int
) -> None:
    calm = batches(0.0, durations_s)
    count = len(calm) // length
    windows = [
        Window("in", calm[i * length].start_s, calm[i * length + length - 1].commit_s, 2)
        for i in range(count)
    ]
    result = disturbance(calm, windows, {2: calm})
    if all(duration < 2.0 for duration in durations_s):  # longer batches reach the next window
        assert result.values == pytest.approx(result.control_values)
        assert result.median == pytest.approx(0.0)


def test_the_reference_is_the_median_per_size() -> None:
    assert references_s({2: batches(0.0, [1.0, 9.0, 2.0]), 3: []}) == {2: 2.0}
