import pytest

from rheostat.actions import Recommendation, ReplaceExecutor
from rheostat.errors import BadInput
from rheostat.model import ExecutorSample, Observation
from rheostat.policies.rules.dhalion import Dhalion
from rheostat.testing.contracts import follow


def job(
    t_s: float = 0.0, backpressure: float | None = 0.0, executors: int = 8, **signals: object
) -> Observation:
    known = {"lag_rows": 9000.0, "input_rows_per_s": 3000.0, **signals}
    return Observation(t_s=t_s, executors=executors, backpressure_ms_per_s=backpressure, **known)  # type: ignore[arg-type]


def executors(**pending_and_rate: tuple[float, float]) -> dict[str, ExecutorSample]:
    return {
        name: ExecutorSample(lag_rows=rows, rows_per_s=rate)
        for name, (rows, rate) in pending_and_rate.items()
    }


@pytest.mark.parametrize(
    ("backpressure", "size", "target"),
    [(200.0, 4, 5), (200.0, 8, 10), (500.0, 4, 8), (990.0, 2, 20), (1000.0, 2, 20), (99.0, 8, 8)],
)
def test_backpressure_scales_out_by_the_suspended_time_ratio(backpressure, size, target):
    assert Dhalion().decide(job(0.0, backpressure, size), {})[0].target == target


@pytest.mark.parametrize(("size", "target"), [(8, 6), (5, 4), (1, 1)])
def test_no_backpressure_and_few_pending_rows_scale_in(size, target):
    assert Dhalion().decide(job(executors=size, lag_rows=6000.0), {})[0].target == target


@pytest.mark.parametrize(
    "signals", [{"lag_rows": 6001.0}, {"lag_rows": None}, {"input_rows_per_s": None}]
)
def test_pending_or_unknown_rows_prevent_a_scale_in(signals):
    assert Dhalion().decide(job(**signals), {})[0].target == 8


@pytest.mark.parametrize(
    ("sample", "actions"),
    [
        (
            (900.0, 100.0),
            (ReplaceExecutor("c"),),
        ),  # longest queue, same throughput as the others: slow
        (
            (900.0, 300.0),
            (Recommendation("rebalance executor c"),),
        ),  # three times the throughput: more than its share of the data
        ((150.0, 100.0), ()),  # all are similar: too few executors
    ],
)
def test_an_outlier_executor_is_replaced_or_recommended_for_rebalancing(sample, actions):
    observation = job(
        0.0, 500.0, 3, by_executor=executors(a=(100.0, 100.0), b=(100.0, 100.0), c=sample)
    )
    decision, _ = Dhalion().decide(observation, {})
    assert decision.actions == actions
    assert decision.target == (3 if actions else 6)


def test_draining_executors_do_not_cause_a_scale_out():
    draining = job(executors=16, target=8, lag_rows=0.0)
    assert Dhalion().decide(draining, {})[0].target == 8


def test_an_ineffective_resolution_is_blacklisted_after_a_wait():
    script = [job(0.0, 500.0, 4), *(job(30.0 * n, 500.0, 8) for n in range(1, 7))]
    decisions, memory = follow(Dhalion(), script)
    assert [decision.target for decision in decisions] == [8] * 7
    assert [decision.reason for decision in decisions[1:4]] == [
        "waiting to see whether it helps to scale out"
    ] * 3
    assert [decision.reason for decision in decisions[4:]] == [
        "size kept: it did not help to scale out"
    ] * 3
    assert memory["blacklist"] == {"scale out": 120.0 + 600.0}


def test_an_effective_resolution_can_be_repeated():
    script = [job(0.0, 500.0, 4), job(60.0, 400.0, 8), job(120.0, 400.0, 8), job(180.0, 500.0, 4)]
    decisions, memory = follow(Dhalion(), script)
    assert memory["blacklist"] == {}
    assert decisions[2].target == 14


def test_a_scale_in_that_causes_backpressure_is_reverted_at_once():
    decisions, memory = follow(
        Dhalion(), [job(0.0, lag_rows=0.0), job(15.0, executors=6), job(30.0, 300.0, 6)]
    )
    assert decisions[-1].target == 9  # 6 x (1 + 30 / 70)
    assert list(memory["blacklist"]) == ["scale in"]


def test_a_resolution_blocked_by_a_guard_is_not_blacklisted():
    decisions, memory = follow(Dhalion(), [job(15.0 * n, 500.0, 4) for n in range(20)])
    assert {decision.target for decision in decisions} == {8}
    assert memory["blacklist"] == {}


def test_an_ineffective_action_is_repeated_only_after_the_blacklist_expires():
    slow = executors(a=(100.0, 100.0), b=(100.0, 100.0), c=(900.0, 100.0))
    script = [job(t_s, 500.0, 3, by_executor=slow) for t_s in (0.0, 60.0, 120.0, 600.0, 721.0)]
    actions = [decision.actions for decision in follow(Dhalion(), script)[0]]
    assert actions == [(ReplaceExecutor("c"),), (), (), (), (ReplaceExecutor("c"),)]


def test_a_late_batch_counts_as_backpressure():
    assert Dhalion().decide(job(0.0, None, 4, batch_s=1.25, trigger_s=1.0), {})[0].target == 5


@pytest.mark.parametrize(
    "given",
    [
        {"backpressure_ms": 0.0},
        {"scale_down": 1.0},
        {"apart": 1.0},
        {"relief": 2.0},
        {"settle_s": -1.0},
    ],
)
def test_an_invalid_parameter_is_rejected(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        Dhalion(**given)
