import pytest

from rheostat.errors import BadInput
from rheostat.model import Decision, ExecutorSample, Observation
from rheostat.policies.rules.varga import VargaV1, VargaV2
from rheostat.testing.contracts import follow


def minutes(
    slope: float, start: float, *, count: int = 5, step_s: float = 15.0, **signals: object
) -> list[Observation]:
    """Return observations whose lag grows by ``slope`` rows/s while 1000 rows/s are consumed."""
    signals = {"idle": 0.3, "processed_rows_per_s": 1000.0, **signals}
    rows = [{"t_s": n * step_s, "lag_rows": start + slope * n * step_s} for n in range(count)]
    return [Observation(executors=4, **{**row, **signals}) for row in rows]  # type: ignore[arg-type]


def last_decision(policy: VargaV1, script: list[Observation]) -> Decision:
    return follow(policy, script)[0][-1]


@pytest.mark.parametrize(
    ("slope", "start", "lag_metric", "target"),
    [
        (500.0, 100_000.0, 1.5, 6),  # 4 x (1 + 500 / 1000)
        (500.0, 0.0, -1.5, 4),  # below the threshold it has no effect
        (0.0, 100_000.0, 1.0, 4),
        (-250.0, 100_000.0, 0.75, 4),  # utilization is on target and larger
        (
            -1500.0,
            100_000.0,
            -0.5,
            4,
        ),  # drained to 10,000: the negative factor becomes positive below the threshold
        (80.0, 100_000.0, 1.08, 4),  # within the tolerance
    ],
)
def test_the_lag_metric_follows_equations_3_and_4(slope, start, lag_metric, target):
    decision = last_decision(VargaV1(), minutes(slope, start))
    expected = -lag_metric if slope == -1500.0 else lag_metric
    assert decision.evidence["lag"] == pytest.approx(expected)
    assert decision.evidence["utilization"] == pytest.approx(1.0)
    assert decision.target == target


def test_fast_draining_lag_is_positive_below_the_threshold():
    decision = last_decision(VargaV1(), minutes(-1500.0, 120_000.0))
    assert decision.evidence["lag"] == pytest.approx(0.5)


def test_low_utilization_scales_in_after_480_seconds():
    script = minutes(0.0, 0.0, count=40, idle=0.65)
    targets = [decision.target for decision in follow(VargaV1(), script)[0]]
    assert next(n * 15 for n, target in enumerate(targets) if target != 4) == 480
    assert targets[-1] == 2


def test_a_target_below_one_overshoots():
    assert last_decision(VargaV1(lag_target=0.75), minutes(500.0, 100_000.0)).target == 8


def test_the_upper_bound_of_the_lag_can_be_used():
    script = minutes(500.0, 100_000.0, lag_rows_upper=10.0)
    assert last_decision(VargaV1(lag="upper"), script).evidence["lag"] == pytest.approx(-1.0)


def test_a_missing_consumed_rate_is_derived_from_arrivals_and_lag():
    script = minutes(500.0, 100_000.0, processed_rows_per_s=None, input_rows_per_s=1500.0)
    assert last_decision(VargaV1(), script).evidence["lag"] == pytest.approx(1.5)


@pytest.mark.parametrize(
    "absent", [{"processed_rows_per_s": 0.0}, {"lag_rows": None}, {"lag_rows": 50_000.0}]
)
def test_an_unknown_lag_metric_prevents_a_scale_in(absent):
    decision = last_decision(VargaV1(down_window_s=1.0), minutes(0.0, 0.0, idle=0.9, **absent))
    assert (decision.target, decision.evidence["lag"]) == (4, None)
    assert "lag is unknown" in decision.reason


def test_pod_scope_averages_the_signed_values():
    def pods(n: int) -> dict[str, ExecutorSample]:
        return {
            "1": ExecutorSample(lag_rows=60_000.0 + 100 * 15.0 * n, rows_per_s=100.0),  # +2
            "2": ExecutorSample(lag_rows=10_000.0, rows_per_s=100.0),  # -1
            "3": ExecutorSample(lag_rows=50_000.0, rows_per_s=100.0),  # absent
        }

    script = [
        Observation(t_s=15.0 * n, executors=3, idle=0.3, by_executor=pods(n)) for n in range(5)
    ]
    assert last_decision(VargaV1(scope="pod"), script).evidence["lag"] == pytest.approx(0.5)


def test_a_removed_executor_is_dropped_from_memory():
    here = {"1": ExecutorSample(lag_rows=1.0, rows_per_s=1.0)}
    _, memory = follow(VargaV1(scope="pod"), [Observation(t_s=0.0, executors=1, by_executor=here)])
    _, memory = VargaV1(scope="pod").decide(
        Observation(t_s=15.0, executors=1, by_executor={}), memory
    )
    assert memory["lags"]["columns"] == {}


def test_version_2_equals_version_1_while_executors_stay():
    script = minutes(500.0, 100_000.0)
    assert last_decision(VargaV2(), script).evidence == last_decision(VargaV1(), script).evidence


def test_version_2_is_zero_for_two_minutes_after_a_registration():
    before = minutes(500.0, 100_000.0)
    late = [{"t_s": 75.0 + 15.0 * n, "lag_rows": 200_000.0 + 15_000 * n} for n in range(12)]
    after = [Observation(executors=6, idle=0.0, processed_rows_per_s=1000.0, **row) for row in late]  # type: ignore[arg-type]
    decisions, _ = follow(VargaV2(), [*before, *after])
    lags = [decision.evidence["lag"] for decision in decisions[5:]]
    assert lags[:8] == [0] * 8
    assert all(lag is not None and lag > 1.5 for lag in lags[9:])  # type: ignore[operator]
    assert {decision.target for decision in decisions[5:13]} == {6}
    assert decisions[-1].target > 6


def test_version_2_needs_two_samples():
    assert last_decision(VargaV2(), minutes(500.0, 100_000.0, count=1)).evidence == {
        "utilization": None,
        "lag": None,
    }


@pytest.mark.parametrize(
    "given",
    [
        {"target_utilization": 0.0},
        {"lag_target": -1.0},
        {"threshold_rows": -5.0},
        {"window_s": 0.0},
        {"lag": "max"},
        {"scope": "node"},
    ],
)
def test_an_invalid_parameter_is_rejected(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        VargaV1(**given)


def test_the_cooldown_must_not_exceed_the_window():
    with pytest.raises(BadInput, match=r"480\.0.*500"):
        VargaV2(cooldown_s=500.0)
