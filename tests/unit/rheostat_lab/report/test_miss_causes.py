from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.rheostat_lab.report.test_summary import run_of

from rheostat.model import Decision, GuardChange, Observation, Record, Rescaling
from rheostat_lab.report.finished_run import CommittedBatch, ExecutorLife, MachineSample, Run
from rheostat_lab.report.miss_causes import causes, in_force, shortage, standing
from rheostat_lab.report.misses import Miss

MISS = Miss(arrived_s=10.0, start_s=12.0, end_s=20.0, rows=400, worst_s=6.0)
TWO = [ExecutorLife("0", None, 0.0, None), ExecutorLife("1", None, 0.0, None)]
COOLDOWN = ("cooldown", "2 s left")


def decided(
    t_s: float, wanted: int, target: int | None = None, guard: tuple[str, str] = COOLDOWN
) -> Record:
    target = wanted if target is None else target
    cut = (GuardChange(guard=guard[0], before=wanted, after=target, reason=f"because; {guard[1]}"),)
    return Record(
        t_s=t_s,
        observation=Observation(t_s=t_s),
        queries=(),
        raw=Decision(target=wanted, reason="because"),
        guards=cut if target < wanted else (),
        target=target,
        actions=(),
        rescaling=Rescaling(phase="steady"),
    )


def cause_text(*records: Record, **given: object) -> str:
    run = run_of(executors=TWO, records=records)
    return "; ".join(causes(replace(run, **given), MISS))  # type: ignore[arg-type]


def test_registered_and_needed_sizes_come_first() -> None:
    assert cause_text(decided(11, 5)).startswith("2 executors running, 5 needed")


def test_requests_for_already_late_rows_do_not_count_as_needed() -> None:
    assert "4 needed" in cause_text(decided(11, 4), decided(15, 57, 8))
    assert "9 needed" in cause_text(decided(15, 9), decided(18, 57, 9))


def test_executors_removed_meanwhile_are_a_cause() -> None:
    going = replace(TWO[1], removed_s=13.0)
    assert "1 of them left meanwhile" in cause_text(decided(11, 4), executors=[TWO[0], going])
    assert "left" not in cause_text(decided(11, 4))


def test_slow_executor_starts_are_a_cause() -> None:
    new = ExecutorLife("2", 11.0, 17.0, None)
    assert "new ones took 6 s to register" in cause_text(decided(11, 3), executors=[*TWO, new])


def test_executors_that_never_registered_are_a_cause() -> None:
    assert "no new one had registered when it ended" in cause_text(decided(11, 3))


def test_a_late_policy_request_is_a_cause() -> None:
    text = cause_text(decided(11, 2), decided(14, 2), decided(17, 4))
    assert "the policy requested more 7 s after the first of these rows had arrived" in text
    assert "asked for more" not in cause_text(decided(11, 4))


def test_a_guard_that_delayed_the_target_is_a_cause() -> None:
    held = cause_text(decided(11, 4, 2), decided(14, 4, 2), decided(17, 4))
    assert "more were held back for 6 s (cooldown: 2 s left)" in held


def test_a_ceiling_is_a_cause() -> None:
    bounds = ("bounds", "max executors is 3")
    assert "at most 3 were allowed (bounds: max executors is 3)" in cause_text(
        decided(11, 9, 3, bounds)
    )


def test_a_policy_that_requested_no_more_is_named() -> None:
    assert cause_text(decided(11, 2)).startswith(
        "2 executors running, and the policy requested no more"
    )


def test_a_time_without_a_decision_is_named() -> None:
    assert cause_text() == "2 executors running, and no decision was recorded at that time"
    assert cause_text(decided(5, 9)) == cause_text()


def test_a_single_executor_is_written_in_the_singular() -> None:
    assert cause_text(executors=TWO[:1]).startswith("1 executor running")


def test_a_long_batch_is_a_cause_with_its_largest_part() -> None:
    long = CommittedBatch(0, 900, 11.0, 16.0, 900, {"addBatch": 4.2, "walCommit": 0.5})
    assert "the longest batch took 5.0 s, 4.2 s of it addBatch" in cause_text(batches=[long])
    assert "batch" not in cause_text(batches=[replace(long, start_s=25.0, commit_s=30.0)])


def test_a_busy_computer_is_a_cause() -> None:
    busy = [MachineSample(15.0, 0.98, 0.4, 3.0)]
    assert "the computer was busy: CPU 98 % in use, 58 % by other programs" in cause_text(
        machine=busy
    )
    assert "computer" not in cause_text(machine=[MachineSample(15.0, 0.4, 0.4, 0.5)])


def test_missing_observations_failures_and_lost_rows_are_causes() -> None:
    blind = replace(decided(13, 2), observation=None)
    assert "1 times the autoscaler had no observation of the job" in cause_text(blind)
    assert "the query failed 2 times" in cause_text(failed_batches=2)
    lost = causes(run_of(executors=TWO), replace(MISS, committed=False))
    assert lost[-1] == "some of these rows were never committed"


def test_the_decision_in_force_is_the_previous_one() -> None:
    run = run_of(records=[decided(3, 1), decided(6, 2), decided(9, 3)])
    assert in_force(run, 8.0) == run.records[1]
    assert in_force(run, 2.0) is None


def test_only_registered_executors_count() -> None:
    run = run_of(executors=[ExecutorLife("0", 0.0, 5.0, 10.0)])
    assert [standing(run, t_s) for t_s in (4.0, 5.0, 9.9, 10.0)] == [0, 1, 1, 0]


@pytest.mark.parametrize("wanted", [1, 2])
def test_there_is_no_shortage_if_the_policy_wanted_no_more(wanted: int) -> None:
    assert shortage(run_of(executors=TWO, records=[decided(11, wanted)]), MISS) is None


def test_the_late_run_lacked_the_executors_that_registered_late(late_run: Run) -> None:
    from rheostat_lab.report.misses import misses

    lack = shortage(late_run, misses(late_run)[0])
    assert lack is not None
    assert (lack.stood, lack.needed, lack.allowed) == (3, 8, 8)


ticks = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9), st.integers(0, 9)), max_size=8)
lives = st.lists(
    st.builds(
        lambda number, early, at, lasts: ExecutorLife(
            str(number),
            None if early is None else float(at - early),
            float(at),
            None if lasts is None else float(at + lasts),
        ),
        st.integers(0, 99),
        st.none() | st.integers(0, 5),
        st.integers(0, 25),
        st.none() | st.integers(0, 20),
    ),
    max_size=6,
)


@settings(max_examples=15)
@given(ticks, lives, st.booleans())
def test_the_size_comes_first_and_every_cause_is_one_clause(
    decisions: list[tuple[int, int, int]], executors: list[ExecutorLife], committed: bool
) -> None:
    records = [decided(t, wanted, target) for t, wanted, target in sorted(decisions)]
    run, miss = run_of(executors=executors, records=records), replace(MISS, committed=committed)
    clauses = causes(run, miss)
    stood = standing(run, miss.arrived_s)
    word = "1 executor" if stood == 1 else f"{stood} executors"
    assert clauses[0].startswith(f"{word} running, ")
    assert ("some of these rows were never committed" in clauses) == (not committed)
    for clause in clauses:
        assert len(clause.splitlines()) == 1
        assert not clause.endswith((".", ";"))
        # No time of a cause precedes the late rows that it explains.
        assert "-" not in clause
    lack = shortage(run, miss)
    if lack is not None:
        assert lack.needed > lack.stood == stood
        assert miss.arrived_s <= lack.wanted_s <= miss.end_s
        assert lack.allowed_s is None or lack.allowed > stood
