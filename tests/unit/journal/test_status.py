"""The status of a job, from its journal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.journal.test_totals import NOON_S, record, start

from rheostat.control.external_size_policy import FlapGuard, Held
from rheostat.guards import (
    Budget,
    ExcludedPeriods,
    OverProvisioning,
    Reversal,
    Schedule,
    Stabilization,
    StepLimits,
    Undo,
    standard_guards,
)
from rheostat.journal.binding_constraint import GUARDS
from rheostat.journal.folder import FolderJournal
from rheostat.journal.known_journals import journals_of, known_journals, remember
from rheostat.journal.starts import Checkpoints, End, Start
from rheostat.journal.status import JobStatus, job_status, status_json
from rheostat.model import GuardChange, InFlight, Limits, Record, Rescaling

END_S = NOON_S + 100


def journal(folder: Path, *records: Record, begun: Start | None = None) -> FolderJournal:
    kept = FolderJournal(folder)
    kept.note(begun or start(t_s=NOON_S - 5, price=0.05, serve="127.0.0.1:8085"))
    for item in records or [healthy(NOON_S + 5 * tick) for tick in range(21)]:
        kept.append(item, {})
    return kept


def healthy(t_s: float) -> Record:
    return record(t_s, 3, input_rows_per_s=100.0, latency_s=2.0, lag_rows=5.0, application="app-1")


def status(folder: Path, after_s: float = 3.0, lives: bool | None = None) -> JobStatus:
    return job_status(folder, END_S + after_s, lambda _: lives)


def test_a_job_that_decides_is_running_and_healthy(tmp_path):
    journal(tmp_path)
    found = status(tmp_path)
    assert (found.state, found.since_s, found.age_s) == ("running", NOON_S - 5, 3.0)
    assert (found.executors, found.target, found.application) == (3, 3, "app-1")
    assert found.today is not None
    assert found.today.late_share == 0.0
    assert found.against_before is not None
    assert (found.size_before, found.against_before.saved_slot_h) == (3, 0.0)
    assert found.problems == ()
    assert status_json(found)["healthy"] is True


@pytest.mark.parametrize(
    ("after_s", "lives", "state", "since_s"),
    [
        (3.0, True, "running", NOON_S - 5),
        (3.0, False, "dead", END_S + 5),
        (60.0, None, "dead", END_S + 5),
        (60.0, False, "dead", END_S + 5),
        (60.0, True, "silent", END_S + 5),
    ],
)
def test_a_job_is_dead_when_its_process_or_its_records_end(
    tmp_path, after_s, lives, state, since_s
):
    journal(tmp_path)
    found = status(tmp_path, after_s, lives)
    assert (found.state, found.since_s) == (state, since_s)
    assert (found.problems == ()) == (state == "running")


def test_a_job_that_was_ended_in_order_has_ended_until_it_starts_again(tmp_path):
    kept = journal(tmp_path)
    kept.note(End(t_s=END_S + 1))
    assert (status(tmp_path).state, status(tmp_path).since_s) == ("ended", END_S + 1)
    kept.note(start(t_s=END_S + 2))
    assert (status(tmp_path).state, status(tmp_path).starts) == ("starting", 2)


def test_settings_from_outside_are_no_new_start(tmp_path):
    kept = journal(tmp_path)
    kept.note(start(t_s=END_S, max_executors=4, directed=True))
    found = status(tmp_path)
    assert (found.starts, found.state, found.since_s) == (1, "running", NOON_S - 5)
    assert found.start is not None
    assert found.start.max_executors == 4


def test_a_journal_of_an_older_version_leaves_unknown_what_it_does_not_say(tmp_path):
    kept = FolderJournal(tmp_path)
    for tick in range(21):
        kept.append(healthy(NOON_S + 5 * tick), {})
    found = status(tmp_path)
    assert (found.state, found.since_s, found.start, found.size_before) == (
        "running",
        None,
        None,
        None,
    )
    assert found.against_max is not None
    assert found.against_max.saved_slot_h is None


@pytest.mark.parametrize(
    ("last", "problem"),
    [
        (replace(healthy(END_S), rescaling=Rescaling(phase="failed", detail="no")), "failed: no"),
        (
            replace(healthy(END_S), observation=None, rescaling=Rescaling(phase="idle")),
            "no query is running",
        ),
        (
            replace(healthy(END_S), rescaling=Rescaling(phase="blocked", detail="2 of 4 come")),
            "2 of 4 come",
        ),
        (
            record(END_S, 3, latency_s=2.0, in_flight=InFlight(elapsed_s=45.0)),
            "the latency is 45.0 s, the objective 10 s",
        ),
        (replace(healthy(END_S), rescaling=Rescaling(phase="halted")), "the kill switch is set"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, last, problem):
    journal(tmp_path, healthy(END_S - 5), last)
    assert any(problem in text for text in status(tmp_path).problems)


@pytest.mark.parametrize(("late_ticks", "is_problem"), [(2, True), (1, True), (0, False)])
def test_late_rows_beyond_the_objective_are_a_problem(tmp_path, late_ticks, is_problem):
    ticks = [
        record(NOON_S + 5 * tick, 3, input_rows_per_s=9.0, latency_s=20.0 if late else 2.0)
        for tick, late in enumerate([False] + [True] * late_ticks + [False] * (20 - late_ticks))
    ]
    journal(tmp_path, *ticks)
    assert bool(status(tmp_path).problems) == is_problem


def test_the_kill_switch_is_found_before_the_job_has_seen_it(tmp_path):
    kept = journal(tmp_path)
    kept.stop_file.touch()
    assert status(tmp_path).halted


def test_the_guard_that_set_the_target_binds(tmp_path):
    limited = replace(
        record(END_S, 4, 9, latency_s=1.0),
        target=8,
        guards=(
            GuardChange(guard="over_provisioning", before=9, after=11, reason="r"),
            GuardChange(guard="bounds", before=11, after=8, reason="r; max executors is 8"),
        ),
    )
    journal(tmp_path, healthy(END_S - 5), limited)
    assert status(tmp_path).binding == "ceiling: 11 executors wanted, 8 allowed"


def test_the_schedule_in_force_is_shown(tmp_path):
    journal(tmp_path, begun=start(t_s=NOON_S - 5, floor="00:00-24:00 = 3"))
    assert status(tmp_path).schedule.startswith("floor 3 until ")


def test_every_guard_has_a_name_in_words():
    guards = standard_guards(
        Limits(),
        over_provisioning=OverProvisioning(0.1),
        stabilization=Stabilization(out_s=1.0),
        undo=Undo(),
        step_limits=StepLimits(1, 1),
        budget=Budget(slot_hours=1.0, keep=1),
        excluded_periods=ExcludedPeriods("00:00-01:00"),
        schedule=Schedule(floor="00:00-24:00 = 3"),
        reversal=Reversal(),
    )
    names = {rule.name for rule in guards} | {FlapGuard().name, Held().name}
    assert names == GUARDS.keys()


def test_a_journal_is_found_by_the_checkpoint_of_its_queries(tmp_path):
    state, folder = tmp_path / "state", tmp_path / "kept elsewhere"
    kept = journal(folder)
    kept.note(Checkpoints(t_s=NOON_S, checkpoints=("file:/data/orders", "s3a://b/ck")))
    remember(state, folder)
    remember(state, folder)
    remember(state, tmp_path / "gone")
    own = state / "journal" / "app-2"
    journal(own)
    remember(state, own)
    assert set(known_journals(state)) == {own, folder}
    assert journals_of("/data/orders/", state) == [folder]
    assert journals_of("s3a://b/ck", state) == [folder]
    assert journals_of("/data/other", state) == []
