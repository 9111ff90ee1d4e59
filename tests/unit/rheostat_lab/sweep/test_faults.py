"""Each fault alone, around a plant that only records the calls."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from rheostat.errors import BadInput
from rheostat.model import Capabilities, Decision, Observation, Rescaling
from rheostat.sim.plant import Ledger, Plant
from rheostat_lab.sweep.faults import ExecutorLoss, LateMetrics, MissingMetrics, Stragglers


class Patient(Plant):
    """A plant whose lag equals the time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.done: list[tuple[float, ...]] = []
        self.target = 2

    def observe(self, now: float) -> Sequence[Observation]:
        return (
            Observation(
                t_s=now, executors=2, target=self.target, lag_rows=now, busy=0.5, batch_s=1.0
            ),
        )

    def capabilities(self) -> Capabilities:
        return Capabilities(can_scale=True)

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        self.target = decision.target
        return Rescaling(phase="steady")

    def advance(self, now: float) -> None:
        assert now >= self.now
        self.now = now

    def ledger(self) -> Ledger:
        raise NotImplementedError

    def lose_executor(self, now: float) -> None:
        assert now == self.now
        self.done.append((now,))

    def slow_executor(self, factor: float, until_s: float, now: float) -> None:
        assert now == self.now
        self.done.append((now, factor, until_s))


def seeded() -> np.random.Generator:
    return np.random.default_rng(4)


def test_executors_are_lost_at_the_configured_rate() -> None:
    patient = Patient()
    plant = ExecutorLoss(patient, 50.0, seeded())
    for now in range(0, 50_001, 10):
        plant.advance(float(now))
    assert len(patient.done) == pytest.approx(1_000, rel=0.1)


def test_executor_losses_do_not_depend_on_the_observation_interval() -> None:
    often, seldom = Patient(), Patient()
    for patient, step in ((often, 1), (seldom, 500)):
        plant = ExecutorLoss(patient, 50.0, seeded())
        for now in range(0, 1_001, step):
            plant.observe(float(now))
    assert often.done == seldom.done
    assert len(often.done) > 5


def test_stragglers_are_slow_for_the_configured_time() -> None:
    patient = Patient()
    plant = Stragglers(patient, 50.0, seeded(), factor=3.0, lasting_s=20.0)
    plant.advance(0.0)
    plant.advance(500.0)
    assert patient.done
    assert all((factor, until_s) == (3.0, now + 20.0) for now, factor, until_s in patient.done)


def test_faults_can_be_combined() -> None:
    patient = Patient()
    plant = ExecutorLoss(
        Stragglers(patient, 100.0, np.random.default_rng(1)), 100.0, np.random.default_rng(2)
    )
    plant.advance(0.0)
    plant.advance(2_000.0)
    assert {len(done) for done in patient.done} == {1, 3}
    assert patient.done == sorted(patient.done)


def test_late_metrics_have_old_timestamps_but_current_sizes() -> None:
    plant = LateMetrics(Patient(), 25.0)
    shown: list[Observation] = []
    for now in range(0, 60, 10):
        plant.rescale(Decision(target=3 + now, reason=""), float(now))
        shown += plant.observe(float(now))
    assert [observation.lag_rows for observation in shown] == [None, None, None, 0.0, 10.0, 20.0]
    assert [observation.t_s for observation in shown] == [0.0, 10.0, 20.0, 0.0, 10.0, 20.0]
    assert [observation.target for observation in shown] == [3, 13, 23, 33, 43, 53]


def test_missing_metrics_are_absent_but_sizes_are_known() -> None:
    plant = MissingMetrics(Patient(), 0.3, seeded())
    shown = [plant.observe(float(now))[0] for now in range(1_000)]
    assert sum(observation.lag_rows is None for observation in shown) == pytest.approx(300, rel=0.2)
    assert sum(
        observation.busy is None and observation.lag_rows is None for observation in shown
    ) == pytest.approx(90, rel=0.35)
    assert all(observation.executors == 2 and observation.target == 2 for observation in shown)


@pytest.mark.parametrize(
    "build",
    [
        lambda: ExecutorLoss(Patient(), 0.0, seeded()),
        lambda: Stragglers(Patient(), 10.0, seeded(), factor=0.5),
        lambda: LateMetrics(Patient(), -1.0),
        lambda: MissingMetrics(Patient(), 1.5, seeded()),
    ],
)
def test_fault_parameters_out_of_range_are_rejected(build: Callable[[], object]) -> None:
    with pytest.raises(BadInput):
        build()
