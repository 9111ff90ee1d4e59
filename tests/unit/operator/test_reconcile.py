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
    return next(condition for condition in outcome.status.conditions if condition.type == "Ready")


def test_a_driver_with_another_sizing_receives_the_configured_one():
    outcome = reconcile(THEIRS, Status(), Observed(drivers=(POD,), report=LIVE))
    assert outcome.actions == (SendSizing(SIZING),)
    assert (outcome.status.replicas, outcome.status.target) == (3, 4)
    assert outcome.status.selector == "spark-app-selector=app-1,spark-role=executor"


def test_a_driver_with_the_configured_sizing_needs_no_action():
    observed = Observed(drivers=(POD,), report=replace(LIVE, sizing=SIZING))
    assert reconcile(THEIRS, Status(), observed).actions == ()


def test_without_a_configured_size_the_current_size_is_adopted():
    application = replace(THEIRS, sizing=replace(SIZING, size=None))
    outcome = reconcile(application, Status(), Observed(drivers=(POD,), report=LIVE))
    assert outcome.actions == (Adopt(4), SendSizing(SIZING))


def test_scale_mirrors_the_current_size_unless_the_mode_is_external():
    assert mirrored("policy", 2, Status(target=5)) == (Adopt(5),)
    assert mirrored("external", 2, Status(target=5)) == ()


def test_an_unreachable_driver_keeps_its_last_reported_size():
    observed = Observed(drivers=(POD,), silence="no route", silence_reason="NoAnswer")
    outcome = reconcile(THEIRS, Status(replicas=5), observed)
    assert (outcome.status.replicas, outcome.actions, ready(outcome).reason) == (5, (), "NoAnswer")


def test_the_younger_of_two_resources_for_one_driver_does_nothing():
    outcome = reconcile(THEIRS, Status(), Observed(drivers=(POD,), report=LIVE, rival="b"))
    assert (outcome.actions, ready(outcome).reason) == ((), "TwoResources")


def test_an_unscalable_driver_of_another_owner_is_only_reported():
    observed = Observed(drivers=(POD,), report=replace(FIXED, sizing=SIZING))
    outcome = reconcile(THEIRS, Status(), observed)
    assert (outcome.actions, ready(outcome).reason) == ((), "CannotScale")
    assert "dynamic allocation" in ready(outcome).message


HALTED = replace(LIVE, halted=True, phase="halted", detail="halted since 16:20 (J/STOP)")


def test_an_externally_halted_driver_is_reported_and_still_sized():
    outcome = reconcile(THEIRS, Status(), Observed(drivers=(POD,), report=HALTED))
    assert (outcome.actions, ready(outcome).reason) == ((SendSizing(SIZING),), "Halted")
    assert (outcome.status.phase, ready(outcome).message) == (
        "halted",
        "halted since 16:20 (J/STOP)",
    )


def test_a_resource_pauses_reports_and_resumes_its_driver():
    paused = replace(SIZING, paused=True)
    application = replace(THEIRS, sizing=paused)
    running = replace(LIVE, sizing=SIZING)
    outcome = reconcile(application, Status(), Observed(drivers=(POD,), report=running))
    assert outcome.actions == (SendSizing(paused),)
    halted = replace(HALTED, sizing=paused)
    outcome = reconcile(application, Status(), Observed(drivers=(POD,), report=halted))
    assert (outcome.actions, ready(outcome).reason) == ((), "Paused")
    assert outcome.status.phase == "halted"
    outcome = reconcile(THEIRS, Status(), Observed(drivers=(POD,), report=halted))
    assert outcome.actions == (SendSizing(SIZING),)


def test_a_paused_driver_is_not_restarted_at_another_size():
    pod = replace(POD, incarnation=1, size=2)
    application = replace(OURS, sizing=replace(SIZING, paused=True))
    for report in (FIXED, replace(FIXED, halted=True, sizing=application.sizing)):
        outcome = reconcile(
            application,
            Status(incarnation=1, started_at=2),
            Observed(drivers=(pod,), report=report),
        )
        assert outcome.status.restarting_to is None
        assert not any(isinstance(action, Drain) for action in outcome.actions)


def test_an_unscalable_driver_is_drained_stopped_and_restarted():
    pod = replace(POD, incarnation=1, size=2)
    status, actions = Status(incarnation=1, started_at=2), []
    for observed in (
        Observed(drivers=(pod,), report=FIXED),
        Observed(drivers=(pod,), report=replace(FIXED, draining=True)),
        Observed(drivers=(pod,), report=replace(FIXED, draining=True, drained=True)),
        Observed(drivers=(replace(pod, leaving=True),)),
        Observed(),
    ):
        outcome = reconcile(OURS, status, observed)
        status = outcome.status
        actions.append(outcome.actions)
    assert actions == [(Drain("u"),), (), (Stop("d", "u"),), (), (Start(2, 4),)]


def test_a_lost_driver_restarts_at_its_last_size():
    status = Status(incarnation=1, started_at=1, target=5)
    assert reconcile(OURS, status, Observed()).actions == (Start(1, 5),)
    lower = replace(OURS, sizing=replace(SIZING, limits=Limits.between(1, 3)))
    assert reconcile(lower, status, Observed()).actions == (Start(1, 3),)


def test_the_previous_size_does_not_undo_a_restart_at_a_smaller_size():
    status = Status(incarnation=1, started_at=6, target=6, restarting_to=2)
    outcome = reconcile(OURS, status, Observed())
    assert outcome.actions == (Start(2, 2),)
    assert reconcile(OURS, outcome.status, Observed()).actions == (Start(2, 2),)


def test_an_ended_driver_stays_until_its_successor_has_an_executor():
    old = replace(POD, incarnation=1, running=False, ended=True, end="Succeeded")
    new = replace(POD, name="a-driver-2", uid="v", incarnation=2, size=4)
    status = Status(incarnation=1, started_at=2, restarting_to=4)
    actions = []
    for observed in (
        Observed(drivers=(old,)),
        Observed(drivers=(old, replace(new, running=False))),
        Observed(drivers=(old, new), report=replace(FIXED, sizing=SIZING, executors=0)),
        Observed(drivers=(old, new), report=replace(FIXED, sizing=SIZING)),
        Observed(drivers=(replace(old, leaving=True), new), report=replace(FIXED, sizing=SIZING)),
    ):
        outcome = reconcile(OURS, status, observed)
        status = outcome.status
        actions.append(outcome.actions)
    assert actions == [(Start(2, 4),), (), (), (Clear("d", "u", "Succeeded"),), ()]
    assert status.last_end == "a-driver-1 for 4 executors: Succeeded"


def test_an_alternating_size_does_not_restart_a_driver():
    pod = replace(POD, incarnation=1, size=4)
    status = Status(incarnation=1, started_at=4)
    for second in range(50):  # another controller writes 4 and 6 alternately
        application = replace(OURS, sizing=replace(SIZING, size=6 - 2 * (second % 2)))
        observed = Observed(drivers=(pod,), report=FIXED, stood_s=0.5)
        outcome = reconcile(application, status, observed)
        status = outcome.status
        assert ready(outcome).reason == "Waiting"
        assert not any(isinstance(action, Drain) for action in outcome.actions)


def test_a_driver_restarts_at_most_once_per_minute():
    pod = replace(POD, incarnation=1, size=2)
    observed = Observed(drivers=(pod,), report=FIXED, ran_s=59.0)
    outcome = reconcile(OURS, Status(incarnation=1), observed)
    assert (
        ready(outcome).message
        == "a driver must run for 60 s before it is restarted at another size"
    )
    second = reconcile(OURS, outcome.status, replace(observed, ran_s=60.0))
    assert second.actions == (Drain("u"),)


def test_conflicting_size_writers_set_a_condition():
    observed = Observed(drivers=(POD,), report=replace(LIVE, sizing=SIZING, contested="held at 5"))
    outcome = reconcile(THEIRS, Status(), observed)
    assert (ready(outcome).reason, ready(outcome).message) == ("Contested", "held at 5")


def test_our_own_driver_is_started_and_restarted_after_node_loss():
    first = reconcile(OURS, Status(), Observed())
    assert first.actions == (Start(1, 4),)
    assert reconcile(OURS, first.status, Observed()).actions == (Start(1, 4),)


def test_our_own_driver_that_ended_by_itself_is_not_restarted():
    ended = replace(POD, incarnation=1, ended=True, running=False)
    outcome = reconcile(OURS, Status(incarnation=1), Observed(drivers=(ended,)))
    assert (outcome.actions, ready(outcome).reason) == ((), "Ended")


def test_an_invalid_resource_changes_nothing():
    outcome = invalid(Status(replicas=3), 7, "min above max")
    assert (outcome.actions, outcome.status.replicas, ready(outcome).message) == (
        (),
        3,
        "min above max",
    )


def test_sizes_that_have_no_effect_are_reported_without_changes():
    sized = replace(SIZING, mode="policy", size=None)
    application = replace(THEIRS, sizing=sized)
    observed = Observed(drivers=(POD,), report=replace(LIVE, sizing=sized), unapplied_size=9)
    outcome = reconcile(application, Status(), observed)
    assert (outcome.actions, ready(outcome).true, ready(outcome).reason) == (
        (),
        True,
        "ScaleUnread",
    )
    assert "kubectl get hpa" in ready(outcome).message
    outside = replace(observed, report=replace(LIVE, sizing=SIZING))
    assert ready(reconcile(THEIRS, Status(), outside)).reason == "Sized"


def test_an_unreachable_driver_is_not_drained_and_its_end_starts_the_next():
    pod = replace(POD, incarnation=1, size=2)
    status = Status(incarnation=1, started_at=2, restarting_to=4)
    silent = reconcile(OURS, status, Observed(drivers=(pod,)))
    assert (silent.actions, ready(silent).reason) == ((), "Draining")
    assert "does not answer" in ready(silent).message
    gone = reconcile(OURS, silent.status, Observed())
    assert gone.actions == (Start(2, 4),)


def test_a_drain_is_repeated_until_the_driver_reports_it(monkeypatch):
    table = RecordingTable(RESTART)
    monkeypatch.setattr("rheostat.operator.reconcile.RESTART", table)
    pod = replace(POD, incarnation=1, size=2)
    first = reconcile(OURS, Status(incarnation=1), Observed(drivers=(pod,), report=FIXED))
    second = reconcile(OURS, first.status, Observed(drivers=(pod,), report=FIXED))
    assert first.actions == second.actions == (Drain("u"),)
    assert ("draining", "unacknowledged") in {row.cells()[:2] for row in table.taken}
