"""Attach at any moment with any history: as long as the policy holds, no executor is removed, and
the number that the cluster manager was requested to provide never falls.

Real components: the loop, the guards, the effective size, the actuator, and the rescale controller
with its transitions. Spark is replaced by ``Application``, which provides what they read of it and
records every call that could remove an executor, now or later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from rheostat.guards import standard_guards
from rheostat.journal.folder import MemoryJournal
from rheostat.loop import Loop
from rheostat.model import Capabilities, Decision, Limits, Memory, Observation, hold
from rheostat.ports import Policy, Sensor
from rheostat.protocols.executors.memory import GOING
from rheostat.signals.rhythm import Rhythm
from rheostat.spark.resizing.actuator import LiveSize, SparkActuator
from rheostat.spark.resizing.conflict_detector import SharedCluster
from rheostat.spark.resizing.locality import LocalityWait
from rheostat.spark.resizing.rescale_controller import RescaleConfig, RescaleController
from rheostat.spark.resizing.state_placement import Placement
from rheostat.spark.sensing.state_stores import Operator

MOST = 6
"""Executors for which the cluster has room; the limits allow all of them."""

ID = "app-1"


@dataclass
class Application:
    """A Spark application with one query, and its cluster manager, at one moment.

    ``requested_total`` is the total that was last requested from the cluster manager; None requests
    all that fit, as on a Standalone cluster. ``exposes_total`` is whether this Spark version
    exposes that number; if not, the settings still contain the initial request.
    """

    requested_total: int | None
    exposes_total: bool
    stateful: bool
    now: float = 1000.0
    born: int = 0
    living: dict[str, str] = field(default_factory=dict)
    leaving: set[str] = field(default_factory=set)
    harm: list[str] = field(default_factory=list)
    """Actions of an attached autoscaler that remove an executor, or prevent one from starting."""

    can_decommission: bool = True
    batch: int = 0
    places: dict[int, str] = field(default_factory=dict)
    journal: MemoryJournal = field(default_factory=MemoryJournal)

    def __post_init__(self) -> None:
        self.at_first = self.requested_total

    # Events without an autoscaler

    def arrive(self) -> None:
        """Register an executor: a wanted one, or a late one that was launched before the total was
        lowered.
        """
        if len(self.living) < MOST:
            self.living[str(self.born)] = f"host-{self.born % 2}"
            self.born += 1

    def fill(self) -> None:
        """Register all requested executors, as far as there is room."""
        wanted = MOST if self.requested_total is None else self.requested_total
        while len(self.living.keys() - self.leaving) < wanted and len(self.living) < MOST:
            self.arrive()

    def lose(self, n: int) -> None:
        """Lose an executor."""
        if self.living:
            lost = sorted(self.living)[n % len(self.living)]
            del self.living[lost]
            self.leaving.discard(lost)

    def let_go(self) -> None:
        """Remove the executors that are being decommissioned."""
        for executor in self.leaving:
            self.living.pop(executor, None)
        self.leaving = set()

    def run_batch(self) -> None:
        """End a batch of the query; its state stays in place, or moves to any executor."""
        self.batch += 1
        able = sorted(self.living.keys() - self.leaving)
        for partition in range(4) if able else ():
            if self.places.get(partition) not in able:
                self.places[partition] = able[partition % len(able)]

    # Requests of an autoscaler (``rheostat.spark.internals.executors.Executors``)

    def hosts(self) -> dict[str, str]:
        return dict(self.living)

    def registered(self) -> int:
        return len(self.living)

    def requested(self) -> int | None:
        return self.requested_total if self.exposes_total else self.at_first

    def request_total(self, executors: int) -> bool:
        if self.requested_total is None or executors < self.requested_total:
            self.harm.append(f"asked for {executors} instead of {self.requested_total or 'all'}")
        self.requested_total = executors
        return True

    def decommission(self, executors: list[str]) -> None:
        self.harm.append(f"decommissioned {executors}")
        self.leaving.update(executors)

    def kill_idle(self, executors: list[str]) -> None:
        self.harm.append(f"killed {executors}, idle")
        self.leaving.update(executors)

    def kill(self, executors: list[str]) -> None:
        self.harm.append(f"killed {executors}")
        self.leaving.update(executors)

    def hide(self, executors: list[str]) -> bool:
        return True

    def hide_newcomers(self, hides: bool) -> bool:
        return True

    def preferred(self) -> list[str]:
        return list(self.living)

    # (``Queries``, and the coordinator of ``Placement``)

    def refresh(self) -> set[str]:
        return {"q"}

    def batches(self) -> dict[str, int]:
        return {"q": self.batch}

    def idle(self, run_id: str, quiet_s: float) -> bool:
        return False

    def rhythm(self, run_id: str) -> Rhythm:
        return Rhythm()

    def moves(self, run_id: str) -> None:
        pass

    def state(self, run_id: str) -> tuple[str, tuple[Operator, ...]]:
        return "q/state", (Operator(0, 4, ("default",)),)

    def store(
        self, state_folder: str, run_id: str, operator: int, partition: int, name: str
    ) -> int:
        return partition

    def locations(self, stores: tuple[int, ...]) -> list[str | None]:
        return [self.places.get(store) for store in stores]

    def report(self, store: int, host: str, executor: str) -> None:
        self.places[store] = executor


class Unthreaded(RescaleController):
    """A controller that observes only on request of the test."""

    def start(self, tick: Callable[[], None] = lambda: None) -> None:
        """Start no thread."""


class Controller(Sensor):
    """An autoscaler on an application, assembled as in ``attach``."""

    def __init__(self, application: Application, policy: Policy, graceful: bool) -> None:
        self.application = application
        application.can_decommission = graceful
        spark: Any = application
        platform: Any = SimpleNamespace(total=lambda wanted: wanted, nodes=lambda hosts: hosts)
        self.controller = Unthreaded(
            SharedCluster(spark, platform, lambda: False),
            spark,
            spark,
            Placement(spark, places=application.stateful),
            None,
            RescaleConfig(),
        )
        actuator = SparkActuator(
            self.controller,
            Capabilities(can_scale=True),
            LiveSize(spark, None),
            LocalityWait(lambda wait: True, lambda: application.stateful),
            lambda: {"application": ID},
        )
        actuator.resume(application.journal.restore().get("rescaling", {}), application.now)
        self.loop = Loop(
            sensor=self,
            policy=policy,
            guards=standard_guards(Limits(max_executors=MOST)),
            actuator=actuator,
            journal=application.journal,
        )

    def observe(self, now: float) -> list[Observation]:
        return [Observation(t_s=now)]

    def tick(self) -> None:
        """Let a second pass, with a batch in it and a decision."""
        for quarter in range(4):
            if quarter == 2:
                self.application.run_batch()
            self.poll()
        self.loop.step(self.application.now)

    def poll(self) -> None:
        self.application.now += 0.25
        self.controller.poll(self.application.now)


class AskFor:
    """An earlier policy, which requests a size."""

    def __init__(self, executors: int) -> None:
        self.executors = executors

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        return Decision(target=self.executors, reason="asked"), memory


class Holds:
    """Keeps the size, using ``hold``."""

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        return hold(observation, "held"), memory


class KeepsWhatItSees:
    """Keeps the size, as a user may implement it."""

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        return Decision(target=observation.executors or 1, reason="held"), memory


NATURE = st.sampled_from(["arrive", "fill", "lose", "let go", "batch", "batch", "pause"])
numbers = st.integers(0, MOST)
applications = st.builds(
    Application,
    requested_total=st.none() | st.integers(1, MOST),
    exposes_total=st.booleans(),
    stateful=st.booleans(),
)
earlier = st.lists(
    st.tuples(
        NATURE | st.sampled_from(["attach", "stop", "tick", "tick", "ask", "shrink"]), numbers
    ),
    max_size=30,
)
later = st.lists(
    st.tuples(NATURE | st.sampled_from(["tick", "tick", "poll"]), numbers), max_size=40
)


def apply_event(application: Application, what: str, n: int) -> None:
    """Apply one event to an application."""
    if what == "arrive":
        application.arrive()
    elif what == "fill":
        application.fill()
    elif what == "lose":
        application.lose(n)
    elif what == "let go":
        application.let_go()
    elif what == "batch":
        application.run_batch()
    elif what == "pause":
        application.now += 10.0 * n
    elif what == "ask":  # a request by the user's own code
        application.requested_total = max(1, n)


def apply_history(
    application: Application, happened: list[tuple[str, int]], graceful: bool
) -> None:
    """Give an application its history: earlier controllers attached, decided, and were stopped at
    any point.
    """
    controller: Controller | None = None
    for what, n in happened:
        if what == "attach":
            controller = Controller(application, AskFor(max(1, n)), graceful)
        elif what == "stop":
            controller = None
        elif what == "shrink":  # as far as it gets within a few ticks
            application.fill()
            controller = Controller(application, AskFor(1), graceful)
            for _ in range(2 * n):
                controller.tick()
        elif what == "tick":
            if controller:
                controller.tick()
        else:
            apply_event(application, what, n)


def executors_marked_leaving(application: Application) -> set[str]:
    """Return the executors that the saga marks as leaving: only those that were really requested to
    leave earlier.
    """
    kept = application.journal.memory.get("rescaling", {}).get("protocol", {"lives": {}})
    gone = {executor for executor, (phase, *_) in kept["lives"].items() if phase in GOING}
    return gone & application.living.keys()


@settings(max_examples=300, deadline=None)
@given(
    application=applications,
    happened=earlier,
    then=later,
    holds=st.sampled_from([Holds(), KeepsWhatItSees()]),
    graceful=st.booleans(),
)
def test_holding_removes_no_executor_and_never_lowers_the_requested_total(
    application, happened, then, holds, graceful
):
    apply_history(application, happened, graceful)
    application.harm.clear()
    controller = Controller(application, holds, graceful)
    for what, n in then:
        if what == "tick":
            controller.tick()
        elif what == "poll":
            controller.poll()
        else:
            apply_event(application, what, n)
        assert application.harm == []
        if what == "tick" and application.journal.records[-1].target is not None:
            assert executors_marked_leaving(application) <= application.leaving
    event(f"{len(application.leaving)} were leaving since before")
    event(f"nobody told how many: {application.requested_total is None}")


@settings(max_examples=200, deadline=None)
@given(
    application=applications,
    happened=earlier,
    wanted=st.integers(1, MOST),
    then=st.lists(
        st.tuples(
            NATURE | st.sampled_from(["tick", "tick", "poll", "ask", "halt", "halt", "resume"]),
            numbers,
        ),
        max_size=40,
    ),
    graceful=st.booleans(),
)
def test_halting_removes_no_executor_and_keeps_the_requested_total(
    application, happened, wanted, then, graceful
):
    apply_history(application, happened, graceful)
    controller = Controller(application, AskFor(wanted), graceful)
    journal, halted = application.journal, False
    for what, n in then:
        harm, requested_total = len(application.harm), application.requested_total
        if what in ("halt", "resume"):
            journal.stopped = halted = what == "halt"
            controller.loop.step(application.now)  # at once, as the handle does
        elif what == "tick":
            controller.tick()
        elif what == "poll":
            controller.poll()
        else:
            apply_event(application, what, n)
        if halted:
            assert len(application.harm) == harm
            assert application.requested_total == requested_total or what == "ask"
            assert journal.records[-1].target is None or what not in ("halt", "tick")


@settings(max_examples=200, deadline=None)
@given(
    application=applications,
    happened=earlier,
    wanted=st.integers(1, MOST),
    ticks=st.integers(0, 6),
    meanwhile=later,
    then=later,
    graceful=st.booleans(),
)
def test_after_a_halt_the_size_stays_until_a_new_decision(
    application, happened, wanted, ticks, meanwhile, then, graceful
):
    apply_history(application, happened, graceful)
    controller = Controller(application, AskFor(wanted), graceful)
    for _ in range(ticks):
        controller.tick()
    application.journal.stopped = True
    controller.loop.step(application.now)
    for what, n in meanwhile:
        apply_event(application, what, n)
    application.journal.stopped = False
    controller.loop.direct(Holds(), standard_guards(Limits(max_executors=MOST)))
    application.harm.clear()
    for what, n in [("tick", 0), *then]:
        if what == "tick":
            controller.tick()
        elif what == "poll":
            controller.poll()
        else:
            apply_event(application, what, n)
        assert application.harm == []


def test_a_deciding_policy_is_executed():
    application = Application(requested_total=3, exposes_total=True, stateful=False)
    application.fill()
    controller = Controller(application, AskFor(1), graceful=True)
    for _ in range(12):
        controller.tick()
    assert application.requested_total == 1
    assert len(application.leaving) == 2
