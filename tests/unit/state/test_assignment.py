"""The assignment of state partitions to executors."""

from __future__ import annotations

import pytest

from rheostat.errors import BadInput
from rheostat.state.assignment import Unit, contiguous, minimal_movement, moves


def at(text: str, query: str = "q") -> dict[Unit, str | None]:
    return {(query, n): None if name == "-" else name for n, name in enumerate(text)}


def placed(assignment: dict[Unit, str]) -> str:
    return "".join(assignment[unit] for unit in sorted(assignment))


def test_from_seven_to_eight_executors_three_of_24_partitions_move_where_flinks_rule_moves_15():
    seven, eight = [*"abcdefg"], [*"abcdefgh"]
    now = contiguous([("q", n) for n in range(24)], seven)
    assert len(moves(now, minimal_movement(now, eight))) == 3
    assert len(moves(now, contiguous(list(now), eight))) == 15


def test_ranges_are_those_of_flink_for_each_query():
    units = [("q", n) for n in range(10)] + [("r", n) for n in range(3)]
    assert placed(contiguous(units, [*"abc"])) == "aaaabbbccc" + "abc"


def test_an_executor_that_joins_takes_from_those_that_have_most():
    assert placed(minimal_movement(at("aaaabb"), [*"abc"])) == "aaccbb"


def test_what_a_lost_executor_had_goes_to_those_that_have_least():
    assert placed(minimal_movement(at("aaabxx"), [*"ab"])) == "aaabbb"


def test_what_nobody_holds_is_dealt():
    assert placed(minimal_movement(at("------"), [*"abc"])) == "aabbcc"


def test_more_executors_than_partitions_leave_some_without():
    assert placed(minimal_movement(at("aa"), [*"abcd"])) == "ab"


def test_two_queries_share_the_surplus_instead_of_meeting_on_one_executor():
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
def test_queries_are_evened_out_where_that_costs_no_move(first, second, executors, even):
    new = minimal_movement({**at(first, "p"), **at(second, "q")}, [*executors])
    assert [
        [sum(holder == e for (q, _), holder in new.items() if q == query) for e in executors]
        for query in "pq"
    ] == even


def test_a_heavy_partition_counts_for_what_it_weighs():
    weights = {("q", n): 10.0 if n == 0 else 1.0 for n in range(11)}
    assert placed(minimal_movement(at("-" * 11), [*"ab"], weights)) == "a" + "b" * 10


def test_heavy_partitions_move_rather_than_many_light_ones():
    weights = {("q", n): 6.0 if n == 3 else 1.0 for n in range(5)}
    assert placed(minimal_movement(at("aaaaa"), [*"ab"], weights)) == "aaaba"


def test_weights_that_are_even_enough_move_nothing():
    weights = {("q", 0): 5.0, ("q", 1): 3.0, ("q", 2): 4.0}
    assert placed(minimal_movement(at("aab"), [*"ab"], weights)) == "aab"


def test_a_weight_that_is_missing_is_the_mean_of_the_others_and_weights_of_nothing_are_none():
    assert placed(minimal_movement(at("aaaa"), [*"ab"], {("q", 0): 2.0})).count("b") in (1, 2)
    assert (
        placed(minimal_movement(at("aaaa"), [*"ab"], {("q", n): 0.0 for n in range(4)})) == "aabb"
    )


@pytest.mark.parametrize(
    "assign",
    [lambda able: minimal_movement(at("ab"), able), lambda able: contiguous([("q", 0)], able)],
)
def test_no_executor_or_one_named_twice_is_refused(assign):
    with pytest.raises(BadInput, match="at least 1 executor"):
        assign([])
    with pytest.raises(BadInput, match="once each, but they are a, b, a"):
        assign([*"aba"])
