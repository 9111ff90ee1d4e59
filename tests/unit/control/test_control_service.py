# mypy: disallow-untyped-calls=False
from dataclasses import replace
from typing import Any

import pytest
from tests.fakes import RecordingActuator, ScriptedSensor

from rheostat.config import GuardOptions, LoopOptions, MetricOptions
from rheostat.control.control_service import ControlService, Refused
from rheostat.control.external_size_policy import ExternalSizePolicy, FlapGuard, Held
from rheostat.control.sizing import Sizing
from rheostat.errors import BadInput
from rheostat.guards import Bounds, RealTime, ReceiverRoom, guards_of
from rheostat.journal.folder import MemoryJournal
from rheostat.loop import Loop
from rheostat.model import Capabilities, Limits, Observation
from rheostat.policies.rules.fixed import Fixed


class App:
    """The loop of an application without an engine, with the interface of a handle."""

    def __init__(self, script, mode=None):
        self.actuator, self.journal = RecordingActuator(), MemoryJournal()
        self.capabilities = Capabilities(can_scale=True)
        self.drains = 0
        self.directed: Any = ()
        self.loop = Loop(
            sensor=ScriptedSensor(script),
            policy=Fixed(3),
            guards=self.guards(Sizing()),
            actuator=self.actuator,
            journal=self.journal,
        )
        self.service = ControlService(self, self.build, self._drain, clock=lambda: 100.0)
        if mode:
            self.service.direct(Sizing(mode=mode))

    def build(self, sizing):
        return Fixed(3), self.guards(sizing)

    def guards(self, sizing):
        limits = sizing.limits or Limits(max_executors=6)
        return guards_of(limits, sizing.guards or GuardOptions(), LoopOptions())

    def direct(self, policy, guards):
        self.directed = (policy, guards)
        self.loop.direct(policy, guards)

    @property
    def halted(self):
        return self.loop.halted()

    def halt(self):
        self.journal.stopped = True

    def resume(self):
        self.journal.stopped = False

    def pause(self, cause):
        self.loop.paused = cause

    def _drain(self):
        self.drains += 1

    def tick(self, now=0.0):
        record = self.loop.step(now)
        self.service.see(record)
        return record


def at(t_s, **signals):
    return Observation(t_s=t_s, executors=2, target=2, **signals)


def test_an_external_size_applies_at_the_next_tick_within_the_limits():
    app = App([at(0), at(1)], mode="external")
    app.service.resize(5)
    app.tick(0)
    app.service.resize(9)
    app.tick(1)
    assert app.actuator.targets == [5, 6]


def test_an_external_size_ignores_cooldowns():
    app = App([at(0), at(1)], mode="external")
    app.service.resize(5)
    assert [type(rule) for rule in app.directed[1]] == [
        FlapGuard,
        ReceiverRoom,
        RealTime,
        Bounds,
    ]


def test_conflicting_size_writers_are_reported_for_one_minute():
    now = [0.0]
    app = App([replace(at(t), target=4 - 2 * (t % 2)) for t in range(10)])
    app.service = ControlService(app, app.build, app._drain, clock=lambda: now[0])
    app.service.direct(Sizing(mode="external"))
    for tick in range(10):
        assert app.service.report().contested == "" or tick > 6
        app.service.resize(2 if tick % 2 == 0 else 4)
        now[0] = float(tick)
        app.tick(now[0])
    assert "check whether a second controller writes it" in app.service.report().contested
    now[0] += 61.0
    assert app.service.report().contested == ""


def test_without_a_requested_size_the_size_stays():
    app = App([at(0)], mode="external")
    app.tick()
    assert app.actuator.targets == [2]


def test_the_policy_decides_in_policy_mode_and_only_advises_in_shadow_mode():
    policy, shadow = App([at(100)]), App([at(100)], mode="shadow")
    policy.tick(100.0)
    record = shadow.tick(100.0)
    assert (policy.actuator.targets, shadow.actuator.targets) == ([3], [2])
    assert [change.guard for change in record.guards] == ["shadow"]


def test_a_size_is_rejected_in_policy_mode():
    with pytest.raises(Refused, match="mode is policy"):
        App([]).service.resize(3)


@pytest.mark.parametrize("size", [0, -1, 2.5, "3", None, True])
def test_an_invalid_size_is_rejected(size):
    with pytest.raises(BadInput, match="whole number"):
        App([], mode="external").service.resize(size)


def test_an_unchanged_sizing_has_no_effect():
    app = App([], mode="external")
    app.directed = ()
    app.service.direct(Sizing(mode="external"))
    assert app.directed == ()


def test_a_size_is_rejected_while_halted_and_accepted_after_resume():
    app = App([at(0), at(1)], mode="external")
    assert app.service.halt().halted
    app.tick()
    assert app.service.report().halted
    with pytest.raises(Refused, match="PUT /resume first"):
        app.service.resize(3)
    assert not app.service.resume().halted
    app.service.resize(3)
    app.tick(1)
    assert app.actuator.targets == [3]


def test_a_paused_sizing_decides_nothing_until_it_is_resumed():
    app = App([at(0), at(1), at(2)])
    app.service.direct(Sizing(paused=True))
    app.tick(0)
    assert "(paused by the control API)" in app.service.report().detail
    assert app.service.resume().halted  # /resume does not change the resource's pause
    app.service.direct(Sizing(mode="policy"))
    app.tick(1)
    assert app.actuator.targets == [3]


def test_the_end_of_a_pause_does_not_end_a_halt():
    app = App([at(0)])
    app.service.halt()
    app.service.direct(Sizing(paused=True))
    app.service.direct(Sizing())
    app.tick(0)
    assert app.service.report().halted


def test_queries_are_drained_once():
    app = App([])
    app.service.drain()
    assert app.service.drain().draining
    assert app.drains == 1


def test_the_report_contains_the_present_metrics_of_the_last_tick():
    app = App([at(0, busy=0.5, lag_rows=10.0)])
    app.tick()
    metrics = app.service.report().metrics
    assert metrics["rheostat_utilization"] == 0.5
    assert metrics["rheostat_lag_rows"] == 10.0
    assert "rheostat_gated_lag_change" not in metrics


def test_lag_metrics_match_the_equations_of_varga():
    """100 rows a second arrive, 50 are consumed: eq. 3 gives 2, gated by the threshold."""
    script = [
        at(t, busy=1.0, lag_rows=50.0 * t, processed_rows_per_s=50.0, input_rows_per_s=100.0)
        for t in range(0, 65, 5)
    ]
    above, below = App(script), App(script)
    above.service.direct(Sizing(metrics=MetricOptions(lag_threshold_rows=100.0)))
    for app in (above, below):
        for t in range(0, 65, 5):
            app.tick(float(t))
    metrics = above.service.report().metrics
    assert metrics["rheostat_gated_lag_change"] == pytest.approx(2.0)
    assert below.service.report().metrics["rheostat_gated_lag_change"] == pytest.approx(-2.0)
    assert below.service.report().metrics["rheostat_relative_lag_change"] == pytest.approx(2.0)


def test_parts_of_a_sizing_compare_by_value():
    assert ExternalSizePolicy(3) == ExternalSizePolicy(3)
    assert Held() == Held()
