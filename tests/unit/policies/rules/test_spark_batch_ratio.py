import pytest

from rheostat.errors import BadInput
from rheostat.model import InFlight, Observation
from rheostat.policies.rules.spark_batch_ratio import SparkBatchRatio
from rheostat.testing.contracts import follow


def ticks(
    ratio: float, start_s: float = 0.0, count: int = 13, executors: int = 4
) -> list[Observation]:
    return [
        Observation(
            t_s=start_s + 5.0 * n,
            executors=executors,
            target=executors,
            batch_s=ratio,
            trigger_s=1.0,
        )
        for n in range(count)
    ]


@pytest.mark.parametrize(
    ("ratio", "step"),
    [
        (0.95, 1),
        (1.49, 1),
        (1.5, 2),
        (2.4, 2),
        (2.5, 3),
        (0.89, 0),
        (0.7, 0),
        (0.51, 0),
        (0.4, -1),
        (0.0, -1),
    ],
)
def test_the_step_after_a_minute_matches_the_ticket(ratio, step):
    assert follow(SparkBatchRatio(), ticks(ratio))[0][-1].target == 4 + step


@pytest.mark.parametrize(
    ("ratio", "step", "in_spark"),
    [(0.9, 0, 1), (0.5, 0, 0), (0.45, -1, 0), (0.3, -1, -1), (0.31, -1, 0), (1.5, 2, 2)],
)
def test_the_document_and_sparks_class_differ_at_the_thresholds(ratio, step, in_spark):
    ours = SparkBatchRatio(), SparkBatchRatio(down_ratio=0.3, inclusive=True)
    script = [
        Observation(t_s=60.0 * n, executors=4, batch_s=ratio * 64, trigger_s=64.0) for n in range(2)
    ]
    assert [follow(policy, script)[0][-1].target - 4 for policy in ours] == [step, in_spark]


def test_no_decision_is_made_in_the_first_minute():
    assert [decision.target for decision in follow(SparkBatchRatio(), ticks(3.0))[0]] == [
        4
    ] * 12 + [7]


def test_decisions_are_made_once_a_minute_and_kept_in_between():
    decisions, _ = follow(SparkBatchRatio(), ticks(0.95, count=37))
    assert [n for n, decision in enumerate(decisions) if decision.target != 4] == [12, 24, 36]
    assert decisions[13].reason == "between two decisions"


def test_the_mean_covers_the_last_minute():
    calm, busy = ticks(0.6, count=12), ticks(2.0, start_s=60.0)
    decisions, _ = follow(SparkBatchRatio(), [*calm, *busy])
    assert decisions[12].evidence == {
        "ratio_avg": pytest.approx((12 * 0.6 + 2.0) / 13),
        "samples": 13,
    }
    assert decisions[24].evidence["ratio_avg"] == 2.0


def test_an_unfinished_batch_is_counted():
    stuck = [
        Observation(
            t_s=5.0 * n,
            executors=2,
            batch_s=0.1,
            trigger_s=10.0,
            in_flight=InFlight(elapsed_s=5.0 * n),
        )
        for n in range(13)
    ]
    assert follow(SparkBatchRatio(), stuck)[0][-1].target == 2 + 3


def test_the_policy_may_request_zero_executors():
    assert follow(SparkBatchRatio(), ticks(0.1, executors=1))[0][-1].target == 0


def test_old_ratios_are_ignored_while_batches_are_unknown():
    blind = [Observation(t_s=60.0 + 5.0 * n, executors=4) for n in range(12)]
    decisions, _ = follow(SparkBatchRatio(), [*ticks(3.0, count=12), *blind])
    assert {decision.target for decision in decisions} == {4}
    assert decisions[-1].reason == "size kept: no batch is known"


def test_a_clock_set_back_delays_a_decision_by_one_minute():
    decisions, _ = follow(SparkBatchRatio(), [*ticks(3.0, start_s=90_000.0, count=3), *ticks(3.0)])
    assert decisions[-1].target == 7


@pytest.mark.parametrize(
    "given", [{"up_ratio": 0.4}, {"down_ratio": -1.0}, {"interval_s": 0.0}, {"slo": 0.0}]
)
def test_an_invalid_parameter_is_rejected(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        SparkBatchRatio(**given)
