# mypy: disallow-untyped-calls=False
from dataclasses import replace

from tests.unit.protocols.recording_table import RecordingTable

from rheostat.control.driver_report import Report
from rheostat.control.sizing import Sizing
from rheostat.model import Limits
from rheostat.operator.observed import Driver, Observed, Status
from rheostat.operator.reconcile import (
    Adopt,
    Clear,
    Drain,
    SendSizing,
    Start,
    Stop,
    invalid,
    mirrored,
    reconcile,
)
from rheostat.operator.streaming_application import Application
from rheostat.protocols.restart import RESTART

SIZING = Sizing(mode="external", size=4, limits=Limits.between(1, 6))
THEIRS = Application(name="a", namespace="n", sizing=SIZING, labels={"app": "a"})
OURS = replace(THEIRS, template={"spec": {}})
POD = Driver(name="d", uid="u", ip="10.0.0.1")
LIVE = Report(application="app-1", executors=3, target=4, phase="growing")
FIXED = replace(LIVE, can_scale=False, cannot=("dynamic allocation is on",))


def ready(outcome):
    return next(each for each in outcome.status.conditions if each.type == "Ready")


def test_a_driver_that_is_sized_otherwise_is_told():
    found = reconcile(THEIRS, Status(), Observed(drivers=(POD,), report=LIVE))
    assert found.actions == (SendSizing(SIZING),)
    assert (found.status.replicas, found.status.target) == (3, 4)
    assert found.status.selector == "spark-app-selector=app-1,spark-role=executor"


def test_a_driver_that_is_sized_as_wanted_is_left_alone():
    seen = Observed(drivers=(POD,), report=replace(LIVE, sizing=SIZING))
    assert reconcile(THEIRS, Status(), seen).actions == ()


def test_without_a_size_the_one_in_force_is_adopted():
    wanted = replace(THEIRS, sizing=replace(SIZING, size=None))
    found = reconcile(wanted, Status(), Observed(drivers=(POD,), report=LIVE))
    assert found.actions == (Adopt(4), SendSizing(SIZING))


def test_where_nobody_outside_decides_scale_follows_the_size_in_force():
    assert mirrored("policy", 2, Status(target=5)) == (Adopt(5),)
    assert mirrored("external", 2, Status(target=5)) == ()


def test_a_silent_driver_keeps_the_size_that_was_seen_last():
    seen = Observed(drivers=(POD,), silence="no route", silence_reason="NoAnswer")
    found = reconcile(THEIRS, Status(replicas=5), seen)
    assert (found.status.replicas, found.actions, ready(found).reason) == (5, (), "NoAnswer")


def test_of_two_resources_for_one_driver_the_younger_does_nothing():
    found = reconcile(THEIRS, Status(), Observed(drivers=(POD,), report=LIVE, rival="b"))
    assert (found.actions, ready(found).reason) == ((), "TwoResources")


def test_somebody_elses_driver_that_cannot_be_scaled_is_only_said():
    seen = Observed(drivers=(POD,), report=replace(FIXED, sizing=SIZING))
    found = reconcile(THEIRS, Status(), seen)
    assert (found.actions, ready(found).reason) == ((), "CannotScale")
    assert "dynamic allocation" in ready(found).message


HALTED = replace(LIVE, halted=True, phase="halted", detail="halted since 16:20 (J/STOP)")


def test_a_driver_that_somebody_else_has_halted_is_reported_and_sized_once_it_resumes():
    found = reconcile(THEIRS, Status(), Observed(drivers=(POD,), report=HALTED))
    assert (found.actions, ready(found).reason) == ((SendSizing(SIZING),), "Halted")
    assert (found.status.phase, ready(found).message) == ("halted", "halted since 16:20 (J/STOP)")


def test_a_resource_pauses_its_driver_shows_it_and_resumes_it():
    paused = replace(SIZING, paused=True)
    wanted = replace(THEIRS, sizing=paused)
    running = replace(LIVE, sizing=SIZING)
    found = reconcile(wanted, Status(), Observed(drivers=(POD,), report=running))
    assert found.actions == (SendSizing(paused),)
    halted = replace(HALTED, sizing=paused)
    found = reconcile(wanted, Status(), Observed(drivers=(POD,), report=halted))
    assert (found.actions, ready(found).reason) == ((), "Paused")
    assert found.status.phase == "halted"
    found = reconcile(THEIRS, Status(), Observed(drivers=(POD,), report=halted))
    assert found.actions == (SendSizing(SIZING),)


def test_a_paused_driver_is_not_restarted_at_another_size():
    pod = replace(POD, incarnation=1, size=2)
    wanted = replace(OURS, sizing=replace(SIZING, paused=True))
    for report in (FIXED, replace(FIXED, halted=True, sizing=wanted.sizing)):
        found = reconcile(
            wanted, Status(incarnation=1, started_at=2), Observed(drivers=(pod,), report=report)
        )
        assert found.status.restarting_to is None
        assert not any(isinstance(action, Drain) for action in found.actions)


def test_the_seeds_steps_drain_stop_restart_where_live_scaling_cannot_be():
    pod = replace(POD, incarnation=1, size=2)
    status, said = Status(incarnation=1, started_at=2), []
    for observed in (
        Observed(drivers=(pod,), report=FIXED),
        Observed(drivers=(pod,), report=replace(FIXED, draining=True)),
        Observed(drivers=(pod,), report=replace(FIXED, draining=True, drained=True)),
        Observed(drivers=(replace(pod, leaving=True),)),
        Observed(),
    ):
        found = reconcile(OURS, status, observed)
        status = found.status
        said.append(found.actions)
    assert said == [(Drain("u"),), (), (Stop("d", "u"),), (), (Start(2, 4),)]


def test_a_driver_that_is_lost_at_peak_load_comes_back_at_its_last_size():
    status = Status(incarnation=1, started_at=1, target=5)
    assert reconcile(OURS, status, Observed()).actions == (Start(1, 5),)
    lower = replace(OURS, sizing=replace(SIZING, limits=Limits.between(1, 3)))
    assert reconcile(lower, status, Observed()).actions == (Start(1, 3),)


def test_a_restart_at_a_smaller_size_is_not_undone_by_the_size_before_it():
    status = Status(incarnation=1, started_at=6, target=6, restarting_to=2)
    outcome = reconcile(OURS, status, Observed())
    assert outcome.actions == (Start(2, 2),)
    assert reconcile(OURS, outcome.status, Observed()).actions == (Start(2, 2),)


def test_a_driver_that_ended_in_a_restart_stays_until_its_successor_has_an_executor():
    old = replace(POD, incarnation=1, running=False, ended=True, end="Succeeded")
    new = replace(POD, name="a-driver-2", uid="v", incarnation=2, size=4)
    status = Status(incarnation=1, started_at=2, restarting_to=4)
    said = []
    for observed in (
        Observed(drivers=(old,)),
        Observed(drivers=(old, replace(new, running=False))),
        Observed(drivers=(old, new), report=replace(FIXED, sizing=SIZING, executors=0)),
        Observed(drivers=(old, new), report=replace(FIXED, sizing=SIZING)),
        Observed(drivers=(replace(old, leaving=True), new), report=replace(FIXED, sizing=SIZING)),
    ):
        found = reconcile(OURS, status, observed)
        status = found.status
        said.append(found.actions)
    assert said == [(Start(2, 4),), (), (), (Clear("d", "u", "Succeeded"),), ()]
    assert status.last_end == "a-driver-1 for 4 executors: Succeeded"


def test_a_driver_is_not_restarted_for_a_size_that_comes_and_goes():
    pod = replace(POD, incarnation=1, size=4)
    status = Status(incarnation=1, started_at=4)
    for second in range(50):  # another controller writes 4 and 6 alternately
        wanted = replace(OURS, sizing=replace(SIZING, size=6 - 2 * (second % 2)))
        seen = Observed(drivers=(pod,), report=FIXED, stood_s=0.5)
        found = reconcile(wanted, status, seen)
        status = found.status
        assert ready(found).reason == "Waiting"
        assert not any(isinstance(each, Drain) for each in found.actions)


def test_a_driver_is_restarted_at_most_once_in_a_minute():
    pod = replace(POD, incarnation=1, size=2)
    seen = Observed(drivers=(pod,), report=FIXED, ran_s=59.0)
    found = reconcile(OURS, Status(incarnation=1), seen)
    assert (
        ready(found).message == "a driver must run for 60 s before it is restarted at another size"
    )
    again = reconcile(OURS, found.status, replace(seen, ran_s=60.0))
    assert again.actions == (Drain("u"),)


def test_two_who_write_the_size_are_a_condition():
    seen = Observed(drivers=(POD,), report=replace(LIVE, sizing=SIZING, contested="held at 5"))
    found = reconcile(THEIRS, Status(), seen)
    assert (ready(found).reason, ready(found).message) == ("Contested", "held at 5")


def test_our_own_driver_is_started_and_started_again_where_its_node_died():
    first = reconcile(OURS, Status(), Observed())
    assert first.actions == (Start(1, 4),)
    assert reconcile(OURS, first.status, Observed()).actions == (Start(1, 4),)


def test_our_own_driver_that_ended_by_itself_stays_ended():
    ended = replace(POD, incarnation=1, ended=True, running=False)
    found = reconcile(OURS, Status(incarnation=1), Observed(drivers=(ended,)))
    assert (found.actions, ready(found).reason) == ((), "Ended")


def test_a_resource_that_contradicts_itself_changes_nothing():
    found = invalid(Status(replicas=3), 7, "min above max")
    assert (found.actions, found.status.replicas, ready(found).message) == ((), 3, "min above max")


def test_sizes_that_somebody_writes_and_nobody_reads_are_said_and_the_driver_is_sized_as_before():
    sized = replace(SIZING, mode="policy", size=None)
    wanted = replace(THEIRS, sizing=sized)
    seen = Observed(drivers=(POD,), report=replace(LIVE, sizing=sized), unapplied_size=9)
    found = reconcile(wanted, Status(), seen)
    assert (found.actions, ready(found).true, ready(found).reason) == ((), True, "ScaleUnread")
    assert "kubectl get hpa" in ready(found).message
    outside = replace(seen, report=replace(LIVE, sizing=SIZING))
    assert ready(reconcile(THEIRS, Status(), outside)).reason == "Sized"


def test_a_silent_driver_is_not_drained_and_its_end_starts_the_next():
    pod = replace(POD, incarnation=1, size=2)
    status = Status(incarnation=1, started_at=2, restarting_to=4)
    silent = reconcile(OURS, status, Observed(drivers=(pod,)))
    assert (silent.actions, ready(silent).reason) == ((), "Draining")
    assert "does not answer" in ready(silent).message
    gone = reconcile(OURS, silent.status, Observed())
    assert gone.actions == (Start(2, 4),)


def test_a_drain_is_ordered_again_until_the_driver_reports_it(monkeypatch):
    table = RecordingTable(RESTART)
    monkeypatch.setattr("rheostat.operator.reconcile.RESTART", table)
    pod = replace(POD, incarnation=1, size=2)
    first = reconcile(OURS, Status(incarnation=1), Observed(drivers=(pod,), report=FIXED))
    again = reconcile(OURS, first.status, Observed(drivers=(pod,), report=FIXED))
    assert first.actions == again.actions == (Drain("u"),)
    assert ("draining", "unacknowledged") in {row.cells()[:2] for row in table.taken}
