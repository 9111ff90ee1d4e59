"""The assignment of state partitions to executors."""

from __future__ import annotations

import pytest

from rheostat.errors import BadInput
from rheostat.state.assignment import Unit, contiguous, minimal_movement, moves


def at(text: str, query: str = "q") -> dict[Unit, str | None]:
    return {(query, n): None if name == "-" else name for n, name in enumerate(text)}


def placed(assignment: dict[Unit, str]) -> str:
    return "".join(assignment[unit] for unit in sorted(assignment))


def test_minimal_movement_moves_three_of_24_partitions_where_flink_moves_15():
    seven, eight = [*"abcdefg"], [*"abcdefgh"]
    now = contiguous([("q", n) for n in range(24)], seven)
    assert len(moves(now, minimal_movement(now, eight))) == 3
    assert len(moves(now, contiguous(list(now), eight))) == 15


def test_ranges_match_flink_for_every_query():
    units = [("q", n) for n in range(10)] + [("r", n) for n in range(3)]
    assert placed(contiguous(units, [*"abc"])) == "aaaabbbccc" + "abc"


def test_a_new_executor_takes_from_the_fullest():
    assert placed(minimal_movement(at("aaaabb"), [*"abc"])) == "aaccbb"


def test_partitions_of_a_lost_executor_go_to_the_emptiest():
    assert placed(minimal_movement(at("aaabxx"), [*"ab"])) == "aaabbb"


def test_unassigned_partitions_are_distributed():
    assert placed(minimal_movement(at("------"), [*"abc"])) == "aabbcc"


def test_surplus_executors_stay_empty():
    assert placed(minimal_movement(at("aa"), [*"abcd"])) == "ab"


def test_two_queries_share_the_surplus_across_executors():
    new = minimal_movement({**at("-" * 7, "p"), **at("-" * 8, "q")}, [*"abc"])
    assert sorted([*new.values()].count(executor) for executor in "abc") == [5, 5, 5]
    for query, few, many in (("p", 2, 3), ("q", 2, 3)):
        counts = [
            sum(executor == e for (q, _), executor in new.items() if q == query) for e in "abc"
        ]
        assert few <= min(counts) <= max(counts) <= many


@pytest.mark.parametrize(
    ("first", "second", "executors", "even"),
    [
        (
            "a-",
            "b",
            "ab",
            [[1, 1], [0, 1]],
        ),  # the executor with the larger sum makes p even
        ("-", "b-", "ab", [[1, 0], [1, 1]]),  # two queries swap executors
        ("b", "bbc-", "abc", [[0, 1, 0], [1, 1, 2]]),  # every executor has part of q
    ],
)
def test_queries_are_balanced_where_no_move_is_needed(first, second, executors, even):
    new = minimal_movement({**at(first, "p"), **at(second, "q")}, [*executors])
    assert [
        [sum(holder == e for (q, _), holder in new.items() if q == query) for e in executors]
        for query in "pq"
    ] == even


def test_a_partition_counts_by_its_weight():
    weights = {("q", n): 10.0 if n == 0 else 1.0 for n in range(11)}
    assert placed(minimal_movement(at("-" * 11), [*"ab"], weights)) == "a" + "b" * 10


def test_one_heavy_partition_moves_instead_of_many_light_ones():
    weights = {("q", n): 6.0 if n == 3 else 1.0 for n in range(5)}
    assert placed(minimal_movement(at("aaaaa"), [*"ab"], weights)) == "aaaba"


def test_nearly_even_weights_move_nothing():
    weights = {("q", 0): 5.0, ("q", 1): 3.0, ("q", 2): 4.0}
    assert placed(minimal_movement(at("aab"), [*"ab"], weights)) == "aab"


def test_a_missing_weight_is_the_mean_and_zero_weights_are_ignored():
    assert placed(minimal_movement(at("aaaa"), [*"ab"], {("q", 0): 2.0})).count("b") in (1, 2)
    assert (
        placed(minimal_movement(at("aaaa"), [*"ab"], {("q", n): 0.0 for n in range(4)})) == "aabb"
    )


@pytest.mark.parametrize(
    "assign",
    [lambda able: minimal_movement(at("ab"), able), lambda able: contiguous([("q", 0)], able)],
)
def test_no_executors_or_a_duplicate_is_rejected(assign):
    with pytest.raises(BadInput, match="at least 1 executor"):
        assign([])
    with pytest.raises(BadInput, match="once each, but they are a, b, a"):
        assign([*"aba"])
