from hypothesis import given
from hypothesis import strategies as st

from rheostat.repartition.groups import groups, needs_shuffle

COUNTS = st.integers(1, 200)


@given(COUNTS, COUNTS, st.integers(-(2**31), 2**31 - 1))
def test_a_row_never_leaves_its_group(old, new, key_hash):
    homes = [
        (key_hash % old in group.sources, key_hash % new in group.targets)
        for group in groups(old, new)
    ]
    assert homes.count((True, True)) == 1
    assert (True, False) not in homes


@given(COUNTS, COUNTS)
def test_every_partition_is_in_one_group(old, new):
    all_groups = [*groups(old, new)]
    assert sorted(part for group in all_groups for part in group.sources) == [*range(old)]
    assert sorted(part for group in all_groups for part in group.targets) == [*range(new)]


def test_a_multiple_splits_each_partition_alone():
    assert [[*group.targets] for group in groups(4, 8)] == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert [[*group.sources] for group in groups(4, 8)] == [[0], [1], [2], [3]]


def test_only_numbers_without_a_common_divisor_need_a_shuffle():
    assert not needs_shuffle(8, 16, stores=1, slots=64)
    assert not needs_shuffle(16, 8, stores=1, slots=64)
    assert needs_shuffle(4, 7, stores=1, slots=4)


def test_a_shuffle_pays_only_where_many_slots_would_be_idle():
    assert not needs_shuffle(4, 7, stores=1, slots=2)
    assert needs_shuffle(12, 8, stores=1, slots=16)
    assert not needs_shuffle(12, 8, stores=2, slots=16)


def test_a_task_does_not_open_hundreds_of_partitions():
    assert needs_shuffle(200, 201, stores=1, slots=2)
    assert not needs_shuffle(200, 100, stores=1, slots=2)
