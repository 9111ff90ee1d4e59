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
INSPECTION = Inspection(
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


def plan_of(
    partitions: int = 16, free: int = 10**12, slots: int = 2, **changed: Any
) -> RepartitionPlan:
    return plan(replace(INSPECTION, **changed), partitions, slots, free)


def test_a_feasible_repartition_has_tasks_a_duration_and_a_size():
    repartition_plan = plan_of()
    assert repartition_plan.refusals == ()
    assert (repartition_plan.tasks, repartition_plan.shuffle, repartition_plan.disk_bytes) == (
        8,
        False,
        480_000_000,
    )
    assert repartition_plan.duration_s is not None
    assert repartition_plan.duration_s > 480e6 / 25e6 / 2


def test_more_slots_take_less_time():
    few, many = plan_of(slots=2).duration_s, plan_of(slots=8).duration_s
    assert few is not None
    assert many is not None
    assert many < few


def test_numbers_without_a_common_divisor_are_shuffled_on_many_slots():
    repartition_plan = plan_of(partitions=7, slots=16)
    assert (repartition_plan.shuffle, repartition_plan.tasks) == (True, 15)
    assert plan_of(partitions=7, slots=2).tasks == 2


def test_coalesce_is_suggested_only_for_fewer_partitions():
    assert ".coalesce(4)" in str(plan_of(partitions=4).coalesce)
    assert plan_of(partitions=16).coalesce is None


def test_all_obstacles_are_reported():
    limit = replace(STORE, refusal="operator 1 (globalLimit) cannot be repartitioned: ...")
    repartition_plan = plan_of(
        partitions=8, free=1, uncommitted=(6,), quiet_s=2.0, stores=(STORE, limit)
    )
    assert [refusal.split()[0] for refusal in repartition_plan.refusals] == [
        "--partitions",
        "operator",
        "batch",
        "a",
        "the",
    ]


def test_an_unfinished_repartition_is_reported_instead_of_its_batch():
    (refusal,) = plan_of(uncommitted=(6,), unfinished_partitions=12).refusals
    assert "repartition to 12" in refusal


def test_our_own_unfinished_repartition_is_reported_with_how_to_end_it():
    (refusal,) = plan_of(unfinished_partitions=12, unended="end it with --partitions 12").refusals
    assert refusal == "end it with --partitions 12"


def test_a_missing_file_is_reported():
    assert plan_of(missing="/c/state/0/1/3.delta").refusals == (
        "/c/state/0/1/3.delta is missing: restore it from a backup",
    )


def test_uncounted_rows_leave_time_and_size_unknown():
    bare = replace(STORE, partitions=(PartitionSize(partition=0, file_bytes=100),))
    repartition_plan = plan_of(stores=(bare,))
    assert (repartition_plan.rows, repartition_plan.disk_bytes, repartition_plan.duration_s) == (
        None,
        None,
        None,
    )
