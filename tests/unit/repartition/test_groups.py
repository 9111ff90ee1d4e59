from hypothesis import given
from hypothesis import strategies as st

from rheostat.repartition.groups import groups, slices

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


def test_a_multiple_splits_every_partition_separately():
    assert [[*group.targets] for group in groups(4, 8)] == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert [[*group.sources] for group in groups(4, 8)] == [[0], [1], [2], [3]]


def test_a_divisor_needs_no_shuffle_at_any_number_of_slots():
    assert slices(8, 16, stores=1, slots=64, in_memory=False) == 2
    assert slices(16, 8, stores=1, slots=64, in_memory=False) == 1
    assert slices(16, 8, stores=1, slots=64, in_memory=True) == 1


def test_idle_slots_share_a_group_in_slices():
    assert slices(4, 7, stores=1, slots=1, in_memory=False) == 1
    assert slices(4, 7, stores=1, slots=2, in_memory=False) == 2
    assert slices(4, 7, stores=2, slots=2, in_memory=False) == 1
    assert slices(1, 3, stores=1, slots=8, in_memory=False) == 3


def test_a_shuffle_is_used_only_where_many_slots_read_the_same_data():
    assert slices(4, 7, stores=1, slots=16, in_memory=False) == 0
    assert slices(12, 8, stores=1, slots=4, in_memory=False) == 1


def test_a_task_does_not_open_hundreds_of_partitions():
    assert slices(200, 201, stores=1, slots=2, in_memory=False) == 0
    assert slices(200, 100, stores=1, slots=2, in_memory=False) == 1


def test_in_memory_state_is_opened_once():
    assert slices(4, 7, stores=1, slots=2, in_memory=True) == 0
    assert slices(12, 8, stores=2, slots=8, in_memory=True) == 1


def test_a_task_does_not_load_all_of_a_store_into_the_heap():
    assert slices(200, 201, stores=4, slots=2, in_memory=True) == 0
    assert slices(200, 1, stores=1, slots=2, in_memory=True) == 0
    assert slices(200, 25, stores=1, slots=2, in_memory=True) == 1


@given(COUNTS, COUNTS, st.integers(1, 8), st.integers(1, 64), st.booleans())
def test_a_slice_has_at_least_one_new_partition(old, new, stores, slots, in_memory):
    parts = slices(old, new, stores, slots, in_memory=in_memory)
    assert 0 <= parts <= min(len(group.targets) for group in groups(old, new))
