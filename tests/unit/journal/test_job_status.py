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
from rheostat.journal.job_status import JobStatus, job_status, status_json
from rheostat.journal.known_journals import journals_of, known_journals, remember
from rheostat.journal.starts import Checkpoints, End, Start
from rheostat.model import GuardChange, InFlight, Limits, Record, Rescaling

END_S = NOON_S + 100


def journal(folder: Path, *records: Record, first_start: Start | None = None) -> FolderJournal:
    written = FolderJournal(folder)
    written.note(first_start or start(t_s=NOON_S - 5, price=0.05, serve="127.0.0.1:8085"))
    for item in records or [healthy(NOON_S + 5 * tick) for tick in range(21)]:
        written.append(item, {})
    return written


def healthy(t_s: float) -> Record:
    return record(t_s, 3, input_rows_per_s=100.0, latency_s=2.0, lag_rows=5.0, application="app-1")


def status(folder: Path, after_s: float = 3.0, lives: bool | None = None) -> JobStatus:
    return job_status(folder, END_S + after_s, lambda _: lives)


def test_a_deciding_job_is_running_and_healthy(tmp_path):
    journal(tmp_path)
    job = status(tmp_path)
    assert (job.state, job.since_s, job.age_s) == ("running", NOON_S - 5, 3.0)
    assert (job.executors, job.target, job.application) == (3, 3, "app-1")
    assert job.today is not None
    assert job.today.late_share == 0.0
    assert job.against_before is not None
    assert (job.size_before, job.against_before.saved_slot_h) == (3, 0.0)
    assert job.problems == ()
    assert status_json(job)["healthy"] is True


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
    job = status(tmp_path, after_s, lives)
    assert (job.state, job.since_s) == (state, since_s)
    assert (job.problems == ()) == (state == "running")


def test_a_stopped_job_has_ended_until_it_starts_again(tmp_path):
    written = journal(tmp_path)
    written.note(End(t_s=END_S + 1))
    assert (status(tmp_path).state, status(tmp_path).since_s) == ("ended", END_S + 1)
    written.note(start(t_s=END_S + 2))
    assert (status(tmp_path).state, status(tmp_path).starts) == ("starting", 2)


def test_externally_changed_settings_are_not_a_new_start(tmp_path):
    written = journal(tmp_path)
    written.note(start(t_s=END_S, max_executors=4, directed=True))
    job = status(tmp_path)
    assert (job.starts, job.state, job.since_s) == (1, "running", NOON_S - 5)
    assert job.start is not None
    assert job.start.max_executors == 4


def test_values_missing_from_an_older_journal_are_unknown(tmp_path):
    written = FolderJournal(tmp_path)
    for tick in range(21):
        written.append(healthy(NOON_S + 5 * tick), {})
    job = status(tmp_path)
    assert (job.state, job.since_s, job.start, job.size_before) == (
        "running",
        None,
        None,
        None,
    )
    assert job.against_max is not None
    assert job.against_max.saved_slot_h is None


@pytest.mark.parametrize(("least", "is_healthy"), [(0, True), (1, False)])
def test_no_query_is_a_problem_unless_executors_are_released(tmp_path, least, is_healthy):
    idle = replace(healthy(END_S), observation=None, rescaling=Rescaling(phase="idle"))
    journal(tmp_path, idle, first_start=start(t_s=NOON_S - 5, min_executors=least))
    job = status(tmp_path)
    assert job.is_between_runs == is_healthy
    assert ("no query is running" in job.problems) != is_healthy


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
def test_every_problem_is_named(tmp_path, last, problem):
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


def test_the_kill_switch_is_reported_before_the_job_notices_it(tmp_path):
    written = journal(tmp_path)
    written.stop_file.touch()
    assert status(tmp_path).halted


def test_the_guard_that_set_the_target_is_binding(tmp_path):
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


def test_the_current_schedule_is_shown(tmp_path):
    journal(tmp_path, first_start=start(t_s=NOON_S - 5, floor="00:00-24:00 = 3"))
    assert status(tmp_path).schedule.startswith("floor 3 until ")


def test_every_guard_has_a_display_name():
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


def test_a_journal_is_located_by_the_checkpoint_of_its_queries(tmp_path):
    state, folder = tmp_path / "state", tmp_path / "kept elsewhere"
    written = journal(folder)
    written.note(Checkpoints(t_s=NOON_S, checkpoints=("file:/data/orders", "s3a://b/ck")))
    remember(state, folder)
    remember(state, folder)
    remember(state, tmp_path / "gone")
    own_folder = state / "journal" / "app-2"
    journal(own_folder)
    remember(state, own_folder)
    assert set(known_journals(state)) == {own_folder, folder}
    assert journals_of("/data/orders/", state) == [folder]
    assert journals_of("s3a://b/ck", state) == [folder]
    assert journals_of("/data/other", state) == []
