"""Any order and loss of events, and a crash between any two steps, leads to the desired state, and
no action is repeated.
"""

# mypy: disallow-untyped-calls=False

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

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
    mirrored,
    reconcile,
)
from rheostat.operator.streaming_application import Application

LIMITS = Limits.between(1, 8)


class World:
    """One application in a cluster: its driver pods, its control API, and the API server's data."""

    def __init__(self, live, ours, ends=False):
        self.live, self.ours, self.ends = live, ours, ends
        self.mode, self.replicas = "external", 3
        self.status, self.pods, self.agents = Status(), {}, {}
        self.started, self.drained, self.sent = [], [], []
        self.silent, self.ending = False, set[str]()
        self.cached_drivers: Any = ()
        if not ours:
            self._run(Driver(name="theirs", uid="theirs", ip="1"), 3)

    def _run(self, pod, size):
        self.pods[pod.name] = pod
        self.agents[pod.uid] = Report(can_scale=self.live, executors=size, target=size)

    def application(self):
        size = self.replicas if self.mode == "external" else None
        sizing = Sizing(mode=self.mode, size=size, limits=LIMITS)
        template: Any = {"spec": {}} if self.ours else None
        return Application(name="a", namespace="n", sizing=sizing, template=template)

    def observed(self, stale):
        if not stale:
            self.cached_drivers = tuple(self.pods.values())
        running = [
            driver for driver in self.cached_drivers if driver.running and driver.name in self.pods
        ]
        report = self.agents[running[0].uid] if len(running) == 1 and not self.silent else None
        return Observed(drivers=self.cached_drivers, report=report)

    def reconcile(self, dies_after=99, stale=False):
        """Write the status, then act; crash after ``dies_after`` steps. Return the actions."""
        result = reconcile(self.application(), self.status, self.observed(stale))
        actions = (*result.actions, *mirrored(self.mode, self.replicas, result.status))
        if dies_after == 0:
            return actions
        self.status = result.status
        for action in actions[: dies_after - 1]:
            self.do(action)
        return actions

    def do(self, action):
        if isinstance(action, Adopt):
            self.replicas = action.replicas
        elif isinstance(action, Start):
            self._start(action)
        elif isinstance(action, Stop):
            pod = self.pods.get(action.name)
            if pod and pod.uid == action.uid:
                assert self.agents[pod.uid].drained, "stopped in the middle of a batch"
                self.pods[action.name] = replace(pod, leaving=True)
        elif isinstance(action, Clear):
            pod = self.pods.get(action.name)
            if pod and pod.uid == action.uid:
                assert pod.ended, "a driver that runs was cleared away"
                del self.pods[action.name], self.agents[pod.uid]
        elif isinstance(action, Drain):
            self._drain(action.uid)
        elif isinstance(action, SendSizing) and not self.silent:
            for uid, report in self.agents.items():
                if report.sizing != action.sizing:
                    self.sent.append(action.sizing)
                    target = action.sizing.size if self.live else report.target
                    self.agents[uid] = replace(report, sizing=action.sizing, target=target or 3)

    def _start(self, action):
        name = f"driver-{action.incarnation}"
        if name in self.pods:
            return  # the API answers 409
        assert not any(driver.running for driver in self.pods.values()), (
            "two drivers, one checkpoint"
        )
        self.started.append(name)
        pod = Driver(
            name=name,
            uid=name,
            ip="1",
            running=False,
            incarnation=action.incarnation,
            size=action.size,
        )
        self._run(pod, action.size)

    def _drain(self, uid):
        report = self.agents.get(uid)
        if report and not report.draining and not self.silent:
            self.drained.append(uid)
            self.agents[uid] = replace(report, draining=True)

    def advance(self):
        """Let the cluster proceed: pods start, queries end, deleted pods disappear."""
        for name, pod in list(self.pods.items()):
            if pod.leaving:
                del self.pods[name], self.agents[pod.uid]
            elif not pod.running and not pod.ended:
                self.pods[name] = replace(pod, running=True)
            elif pod.ended:
                continue
            elif self.agents[pod.uid].drained and self.ends:  # its program has finished
                self.pods[name] = replace(pod, running=False, ended=True, end="Succeeded")
            elif self.agents[pod.uid].draining:  # the running batch takes some time
                done = pod.uid in self.ending
                self.ending.add(pod.uid)
                self.agents[pod.uid] = replace(self.agents[pod.uid], drained=done)
            report = self.agents.get(pod.uid)
            if report and report.can_scale:
                self.agents[pod.uid] = replace(report, executors=report.target)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("resize"), st.integers(1, 8)),
        st.tuples(st.just("mode"), st.sampled_from(["external", "policy", "shadow"])),
        st.tuples(st.just("reconcile"), st.integers(0, 5)),
        st.tuples(st.just("stale"), st.integers(1, 5)),
        st.tuples(st.just("go on"), st.just(0)),
        st.tuples(st.just("silence"), st.booleans()),
    ),
    max_size=40,
)


def play(world, events):
    for what, value in events:
        if what == "resize":
            world.replicas = value
        elif what == "mode":
            world.mode = value
        elif what == "silence":
            world.silent = value
        elif what == "go on":
            world.advance()
        else:
            world.reconcile(value, stale=what == "stale")


def settle(world):
    world.silent = False
    for _ in range(20):
        world.reconcile()
        world.advance()


@given(live=st.booleans(), ours=st.booleans(), ends=st.booleans(), events=steps)
def test_any_history_converges_to_the_desired_state(live, ours, ends, events):
    world = World(live, ours, ends)
    play(world, events)
    settle(world)
    before = world.status
    assert world.reconcile() == ()
    assert world.status == before
    running = [pod for pod in world.pods.values() if pod.running]
    assert len(running) == 1
    assert list(world.pods.values()) == running, "a driver that has ended is left behind"
    report = world.agents[running[0].uid]
    assert report.sizing == world.application().sizing
    if world.mode == "external" and (live or ours):
        assert (report.target if live else running[0].size) == world.replicas


@given(live=st.booleans(), ours=st.booleans(), ends=st.booleans(), events=steps)
def test_no_action_is_repeated_and_at_most_one_driver_runs(live, ours, ends, events):
    world = World(live, ours, ends)
    play(world, events)
    settle(world)
    assert len(set(world.started)) == len(world.started)
    assert len(set(world.drained)) == len(world.drained)
    assert all(one != other for one, other in zip(world.sent, world.sent[1:], strict=False))


@given(st.integers(1, 8), st.integers(0, 30))
def test_a_crash_at_any_step_loses_no_size(size, point):
    """Restart at another size, and crash the operator once after ``point`` steps."""
    world, done = World(live=False, ours=True), 0
    settle(world)
    world.replicas = size
    for _ in range(20):
        steps_of_this = 1 + len(world.reconcile(max(0, point - done)))
        done += steps_of_this
        world.advance()
    settle(world)
    running = [pod for pod in world.pods.values() if pod.running]
    assert [pod.size for pod in running] == [size]
    assert len(world.drained) == (0 if size == 3 else 1)
