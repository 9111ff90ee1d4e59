import math

import pytest

from rheostat.errors import BadInput
from rheostat.model import Observation, Stage
from rheostat.policies.rates.drs import Drs
from rheostat.policies.registry import create
from rheostat.signals.statistics.mmk_queue import Station


def network(executors: int = 2, slots_per_executor: int = 1) -> Observation:
    """Two stations: 10 rows/s at 4 a slot (a = 2.5), and half of them at 1 a slot (a = 5)."""
    stages = (
        Stage(name="parse", upstream=("kafka",), rows_in=40.0, rows_out=20.0, busy_s=10.0),
        Stage(name="look up", upstream=("parse",), rows_in=10.0, rows_out=10.0, busy_s=10.0),
    )
    return Observation(
        t_s=0.0,
        executors=executors,
        input_rows_per_s=10.0,
        stages=stages,
        slots_per_executor=slots_per_executor,
    )


def test_the_initial_size_makes_every_station_stable():
    decision = Drs().decide(network(), {})[0]
    assert (decision.target, decision.evidence["stable_from"]) == (9, 9)  # 3 + 6
    assert decision.evidence["sojourn_s"] == pytest.approx(1.396, abs=0.01)


@pytest.mark.parametrize(("slo", "slots"), [(1.4, 9), (1.2, 10), (0.9, 11), (0.8, 13)])
def test_servers_are_added_until_the_objective_is_met(slo, slots):
    decision = Drs(slo=slo).decide(network(), {})[0]
    assert decision.target == slots
    assert float(decision.evidence["sojourn_s"] or 9) <= slo


def test_no_other_allocation_of_the_same_servers_is_better():
    def time_s(k1: int, k2: int) -> float:
        first, second = Station(10.0, 4.0), Station(5.0, 1.0)
        for _ in range(k1):
            first = first.with_one_more()
        for _ in range(k2):
            second = second.with_one_more()
        return (10.0 * first.time_s + 5.0 * second.time_s) / 10.0

    decision = Drs(slo=0.9).decide(network(), {})[0]
    assert decision.evidence["sojourn_s"] == pytest.approx(
        min(time_s(k, 11 - k) for k in range(3, 6))
    )


def test_an_unreachable_objective_stops_at_the_useful_maximum():
    decision = Drs(slo=0.5, max_slots=50).decide(network(), {})[0]
    assert decision.target <= 50
    assert decision.evidence["sojourn_s"] == pytest.approx(0.75, abs=1e-3)  # 1 / 4 + 0.5 x 1 / 1


def test_slots_are_converted_to_executors_and_the_search_is_bounded():
    assert Drs().decide(network(slots_per_executor=4), {})[0].target == 3
    decision = Drs(max_slots=8).decide(network(), {})[0]
    assert (decision.target, decision.evidence["sojourn_s"]) == (9, None)


@pytest.mark.parametrize("rate", [math.nan, math.inf, -1.0])
def test_a_broken_rate_leaves_the_time_of_a_row_out(rate):
    broken = Observation(
        t_s=0.0, executors=2, input_rows_per_s=0.0, processed_rows_per_s=1.0, inputs={"a": rate}
    )
    assert Drs().decide(broken, {})[0].evidence["sojourn_s"] is None


def test_without_stages_the_job_is_one_station():
    decision = Drs().decide(
        Observation(
            t_s=0.0, executors=4, input_rows_per_s=3000.0, processed_rows_per_s=3000.0, busy=0.9
        ),
        {},
    )[0]
    assert (decision.target, decision.evidence["stable_from"]) == (4, 4)


@pytest.mark.parametrize("given", [{"slo": 0.0}, {"max_slots": 0}])
def test_an_invalid_parameter_is_rejected(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        create("drs", given)
