"""Assignments are complete, even, of minimal cost and deterministic; the bounds are computed here
in a different way."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rheostat.state.assignment import Unit, contiguous, minimal_movement, moves
from rheostat.state.fluid import next_moves
from rheostat_lab.flink.key_groups import key_group_range, murmur_hash, operator_index, split, union

executors = st.integers(1, 9).map(lambda n: [str(e) for e in range(n)])
holder = st.none() | st.integers(0, 12).map(str)
subtasks = st.lists(
    st.dictionaries(st.sampled_from("xyz"), st.lists(st.integers(), max_size=9)), max_size=5
)
some_executors = st.sets(st.integers(0, 12).map(str))
current = st.dictionaries(
    st.tuples(st.sampled_from(["p", "q", "r"]), st.integers(0, 30)), holder, max_size=60
)


def keepable(now: Mapping[Unit, str | None], able: Sequence[str]) -> int:
    """Return the maximum number of units that can stay in place if no executor may exceed its even
    share."""
    held = sorted((Counter(now.values())[executor] for executor in able), reverse=True)
    share, larger = divmod(len(now), len(able))
    return sum(min(count, share + (n < larger)) for n, count in enumerate(held))


@settings(max_examples=150)
@given(now=current, able=executors)
def test_an_assignment_is_complete_even_and_needs_the_fewest_moves(now, able):
    new = minimal_movement(now, able)
    counts = [list(new.values()).count(executor) for executor in able]
    assert new.keys() == now.keys()
    assert set(new.values()) <= set(able)
    assert max(counts) - min(counts) <= 1
    assert len(moves(now, new)) == len(now) - keepable(now, able)


@settings(max_examples=150)
@given(now=current, able=executors)
def test_even_assignments_are_stable_and_independent_of_order(now, able):
    new = minimal_movement(now, able)
    assert minimal_movement(dict(new), able) == new
    assert minimal_movement(dict(reversed(now.items())), able) == new


@settings(max_examples=150)
@given(sizes=st.lists(st.integers(1, 20), max_size=4), able=executors)
def test_a_new_assignment_is_even_within_every_query(sizes, able):
    now = {(str(query), n): None for query, size in enumerate(sizes) for n in range(size)}
    assert unevenness(minimal_movement(now, able), able) == 0


def unevenness(new: Mapping[Unit, str], able: Sequence[str]) -> int:
    """Return by how many units the queries' counts lie outside the floor and the ceiling of their
    means."""
    beside = 0
    for query, total in Counter(query for query, _ in new).items():
        counts = [
            sum(new[unit] == executor for unit in new if unit[0] == query) for executor in able
        ]
        beside += sum(
            max(0, total // len(able) - count, count - -(-total // len(able))) for count in counts
        )
    return beside


@settings(max_examples=60)
@given(
    now=st.dictionaries(
        st.tuples(st.sampled_from("pqr"), st.integers(0, 3)),
        st.sampled_from([None, *"012x"]),
        max_size=6,
    ),
    able=st.integers(1, 3).map(lambda n: [str(e) for e in range(n)]),
)
def test_no_even_assignment_has_fewer_moves_or_more_even_queries(now, able):
    """Compare with all possible assignments."""
    new = minimal_movement(now, able)
    every = (
        dict(zip(now, places, strict=True)) for places in itertools.product(able, repeat=len(now))
    )
    even = (
        other
        for other in every
        if max(c := [list(other.values()).count(e) for e in able]) - min(c) <= 1
    )
    assert (len(moves(now, new)), unevenness(new, able)) == min(
        (len(moves(now, other)), unevenness(other, able)) for other in even
    )


@settings(max_examples=150)
@given(now=current, able=executors, data=st.data())
def test_weighted_loads_differ_by_at_most_the_heaviest_unit(now, able, data):
    assume(now)
    weights = {unit: data.draw(st.floats(0, 1e9)) for unit in now}
    new = minimal_movement(now, able, weights)
    loads = [sum(weights[unit] for unit, executor in new.items() if executor == e) for e in able]
    assert new.keys() == now.keys()
    assert max(loads) - min(loads) <= max([*weights.values(), 1.0]) * (1 + 1e-6)
    assert minimal_movement(dict(new), able, weights) == new


@settings(max_examples=100)
@given(
    now=current,
    able=executors,
    per_executor=st.integers(1, 4),
    leaving=some_executors,
    young=st.none() | some_executors,
)
def test_stepwise_moves_complete_and_respect_the_limit(now, able, per_executor, leaving, young):
    wanted, steps = minimal_movement(now, able), 0
    held = dict(now)
    while step := next_moves(held, wanted, per_executor, leaving, young):
        arrived = Counter(wanted[unit] for unit in step if held[unit] is not None)
        assert max(arrived.values(), default=0) <= per_executor
        assert all(held[unit] != wanted[unit] for unit in step)
        held.update({unit: wanted[unit] for unit in step})
        steps += 1
    assert held == wanted
    assert steps <= len(now)


@settings(max_examples=100)
@given(groups=st.integers(1, 32768), subtasks=st.integers(1, 64), group=st.integers(0, 32767))
def test_key_group_ranges_contain_their_groups_and_cover_all(groups, subtasks, group):
    ranges = [key_group_range(groups, subtasks, n) for n in range(subtasks)]
    assert sum(len(own) for own in ranges) == groups
    assert group % groups in ranges[operator_index(group % groups, groups, subtasks)]


@settings(max_examples=200)
@given(code=st.integers(-(2**31), 2**31 - 1))
def test_a_hash_is_non_negative_and_fits_31_bits(code):
    assert 0 <= murmur_hash(code) < 2**31


@settings(max_examples=100)
@given(now=current, able=executors)
def test_contiguous_ranges_are_even_and_complete(now, able):
    new = contiguous(list(now), able)
    assert new.keys() == now.keys()
    for query in {query for query, _ in now}:
        places = [able.index(new[unit]) for unit in sorted(new) if unit[0] == query]
        assert places == sorted(places)
        assert max(Counter(places).values()) <= -(-len(places) // len(able))


@settings(max_examples=100)
@given(old=subtasks, parallelism=st.integers(1, 6))
def test_splitting_preserves_items_evenly_and_union_returns_all(old, parallelism):
    assume(len(old) != parallelism)
    new = split(old, parallelism)
    for name in "xyz":
        items = [item for subtask in old for item in subtask.get(name, [])]
        pieces = [subtask.get(name, []) for subtask in new]
        assert sorted(item for piece in pieces for item in piece) == sorted(items)
        assert max(map(len, pieces)) - min(map(len, pieces)) <= 1
        assert all(subtask.get(name, []) == items for subtask in union(old, parallelism))
    totals = [sum(len(items) for items in subtask.values()) for subtask in new]
    assert max(totals) - min(totals) <= 1
