"""The state that a change of size must move, in closed form, for both assignment rules."""

from typing import Any

import pytest

from rheostat.state.assignment import Unit, contiguous, minimal_movement, moves
from rheostat_lab.flink.key_groups import key_group_range

SIZES = [(before, after) for before in range(1, 13) for after in range(1, 13) if before != after]


def moved(units: list[Unit], before: int, after: int, rule: Any) -> int:
    """Return how many units move from an even assignment to one for ``after`` executors."""
    names = [str(n) for n in range(max(before, after))]
    now = (
        minimal_movement(dict.fromkeys(units), names[:before])
        if rule is minimal_movement
        else rule(units, names[:before])
    )
    wanted = rule(now if rule is minimal_movement else units, names[:after])
    return len(moves(now, wanted))


@pytest.mark.parametrize("partitions", [24, 37, 60])
@pytest.mark.parametrize(("before", "after"), SIZES)
def test_scale_out_and_scale_in_move_the_minimal_state(partitions, before, after):
    units = [("q", n) for n in range(partitions)]
    small, large = sorted((before, after))
    share, rest = divmod(partitions, large)
    # As many of the remaining executors as there are larger shares keep them.
    outside = (large - small) * share + max(0, rest - small)
    held = sum(share + (n < rest) for n in range(small, large))  # the last executors are removed
    assert moved(units, before, after, minimal_movement) == (outside if after > before else held)


def test_contiguous_ranges_move_about_half_of_the_state():
    units = [("q", n) for n in range(60)]
    shares = [moved(units, n, n + 1, contiguous) / 60 for n in range(2, 12)]
    assert all(0.3 < share < 0.6 for share in shares)
    assert all(
        moved(units, a, b, contiguous) >= moved(units, a, b, minimal_movement)
        for a, b in SIZES
        if b > a
    )


def test_doubling_the_parallelism_splits_a_subtasks_key_groups():
    for parallelism in (1, 2, 3, 5, 8):
        for index in range(parallelism):
            halves = [set(key_group_range(128, 2 * parallelism, 2 * index + n)) for n in (0, 1)]
            assert halves[0] | halves[1] == set(key_group_range(128, parallelism, index))
