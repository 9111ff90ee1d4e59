from dataclasses import replace
from typing import Any

from rheostat.repartition.inspection import InspectedStore, Inspection, PartitionSize
from rheostat.repartition.plan import RepartitionPlan, plan

STORE = InspectedStore(
    operator=0,
    operator_name="stateStoreSave",
    store="default",
    refusal=None,
    partitions=tuple(
        PartitionSize(partition=part, file_bytes=100, rows=1_000_000, bytes=60_000_000)
        for part in range(8)
    ),
    skew=1.0,
)
FOUND = Inspection(
    location="/c",
    provider="RocksDBStateStoreProvider",
    format=1,
    partitions=8,
    last_batch=5,
    uncommitted=(),
    unfinished_partitions=None,
    unended=None,
    missing=None,
    sources=(),
    quiet_s=1000.0,
    stores=(STORE,),
)


def planned(
    partitions: int = 16, free: int = 10**12, slots: int = 2, **changed: Any
) -> RepartitionPlan:
    return plan(replace(FOUND, **changed), partitions, slots, free)


def test_a_possible_change_has_tasks_a_time_and_a_size():
    told = planned()
    assert told.refusals == ()
    assert (told.tasks, told.shuffle, told.disk_bytes) == (8, False, 480_000_000)
    assert told.duration_s is not None
    assert told.duration_s > 480e6 / 25e6 / 2


def test_more_slots_take_less_time():
    few, many = planned(slots=2).duration_s, planned(slots=8).duration_s
    assert few is not None
    assert many is not None
    assert many < few


def test_numbers_without_a_common_divisor_go_through_a_shuffle_on_many_slots():
    told = planned(partitions=7, slots=16)
    assert (told.shuffle, told.tasks) == (True, 15)
    assert planned(partitions=7, slots=2).tasks == 2


def test_fewer_partitions_would_do_with_coalesce_and_more_would_not():
    assert ".coalesce(4)" in str(planned(partitions=4).coalesce)
    assert planned(partitions=16).coalesce is None


def test_everything_that_stands_against_it_is_told():
    limit = replace(STORE, refusal="operator 1 (globalLimit) cannot be repartitioned: ...")
    told = planned(partitions=8, free=1, uncommitted=(6,), quiet_s=2.0, stores=(STORE, limit))
    assert [refusal.split()[0] for refusal in told.refusals] == [
        "--partitions",
        "operator",
        "batch",
        "a",
        "the",
    ]


def test_an_unfinished_repartition_is_named_instead_of_its_batch():
    (refusal,) = planned(uncommitted=(6,), unfinished_partitions=12).refusals
    assert "repartition to 12" in refusal


def test_a_repartition_of_our_own_says_how_it_is_ended_and_not_how_sparks_is():
    (refusal,) = planned(unfinished_partitions=12, unended="end it with --partitions 12").refusals
    assert refusal == "end it with --partitions 12"


def test_a_missing_file_is_named():
    assert planned(missing="/c/state/0/1/3.delta").refusals == (
        "/c/state/0/1/3.delta is missing: restore it from a backup",
    )


def test_without_counted_rows_there_is_no_time_and_no_size():
    bare = replace(STORE, partitions=(PartitionSize(partition=0, file_bytes=100),))
    told = planned(stores=(bare,))
    assert (told.rows, told.disk_bytes, told.duration_s) == (None, None, None)
