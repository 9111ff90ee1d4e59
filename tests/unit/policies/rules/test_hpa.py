import pytest

from rheostat.errors import BadInput
from rheostat.model import Memory, Observation
from rheostat.policies.rules.hpa import Hpa
from rheostat.testing.contracts import follow


def target_once(policy: Hpa, executors: int, t_s: float = 0.0, **signals: object) -> int:
    return policy.decide(Observation(t_s=t_s, executors=executors, **signals), {})[0].target  # type: ignore[arg-type]


def closed_loop(
    policy: Hpa, script: list[float | None], size: int, step_s: float = 60.0
) -> list[int]:
    """Return the sizes if each decision takes effect at once; the script is the total CPU of all
    executors."""
    memory: Memory = {}
    sizes = []
    for n, total in enumerate(script):
        observation = Observation(
            t_s=n * step_s, executors=size, target=size, cpu=None if total is None else total / size
        )
        decision, memory = policy.decide(observation, memory)
        size = decision.target
        sizes.append(size)
    return sizes


@pytest.mark.parametrize(
    ("executors", "cpu", "target", "wanted"),
    [
        (10, 0.9, 0.6, 15),  # Koper's example, section 3.2.2
        (3, 0.9, 0.5, 6),
        (3, 0.55, 0.5, 3),  # 1.1: at the tolerance
        (3, 0.559, 0.5, 3),  # 55 in whole per cents
        (3, 0.56, 0.5, 4),
        (3, 0.45, 0.5, 3),
        (1, 0.9, 0.3, 3),  # 3, not 4, although floating point makes the ratio slightly larger
        (4, 0.7, 0.7, 4),
        (5, 0.9, 0.9, 5),
        (2, 1.0, 0.5, 4),
    ],
)
def test_the_size_is_executors_times_metric_over_target(executors, cpu, target, wanted):
    assert target_once(Hpa(metrics=f"cpu {target}"), executors, cpu=cpu) == wanted


@pytest.mark.parametrize(
    ("executors", "cpu", "wanted"),
    [(4, 0.35, 2), (4, 0.1, 1), (4, 0.0, 1), (10, 0.44, 7), (10, 0.64, 10), (10, 0.62, 9)],
)
def test_without_a_window_scale_in_uses_the_same_equation(executors, cpu, wanted):
    assert target_once(Hpa(down_window_s=0.0), executors, cpu=cpu) == wanted


def test_both_tolerances_apply():
    policy = Hpa(metrics="cpu 0.5", tolerance_up=0.0, tolerance_down=0.5, down_window_s=0.0)
    assert [target_once(policy, 10, cpu=cpu) for cpu in (0.51, 0.25, 0.24)] == [11, 10, 5]


def test_scale_in_waits_for_the_largest_recommendation_to_expire():
    sizes = closed_loop(Hpa(metrics="cpu 0.5"), [2.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 4)
    #   minute:  0     1     2     3     4     5     6: the 6 of minute 1 has left the window
    assert sizes == [4, 6, 6, 6, 6, 6, 2, 2, 2]


def test_the_initial_size_is_the_first_recommendation():
    assert closed_loop(Hpa(metrics="cpu 0.5"), [1.0] * 7, 8) == [8, 8, 8, 8, 8, 2, 2]


def test_scale_out_takes_the_smallest_recommendation_of_its_window():
    sizes = closed_loop(
        Hpa(metrics="cpu 0.5", up_window_s=150.0), [4.0, 3.0, 4.0, 4.0, 4.0, 4.0], 4
    )
    assert sizes == [4, 4, 4, 6, 8, 8]  # 8, 6, 8: the proposals 4 and then 6 hold it back


def test_scale_out_adds_at_most_100_percent_or_four():
    assert closed_loop(Hpa(metrics="cpu 0.5"), [50.0] * 6, 1, step_s=15.0) == [
        5,
        10,
        20,
        40,
        80,
        100,
    ]
    assert target_once(Hpa(metrics="cpu 0.1"), 1, cpu=1.0) == 5
    assert target_once(Hpa(metrics="cpu 0.1"), 6, cpu=1.0) == 12


def test_pending_executors_never_reverse_the_direction():
    coming = Observation(t_s=0.0, executors=2, target=6, cpu=0.9)
    assert (
        Hpa(metrics="cpu 0.5").decide(coming, {})[0].target == 6
    )  # 2 x 1.8 = 4 would be a scale-in at 180 %
    busy = Observation(t_s=0.0, executors=5, target=6, cpu=0.9)
    assert Hpa(metrics="cpu 0.5").decide(busy, {})[0].target == 9


@pytest.mark.parametrize(
    ("cpu", "busy", "wanted"),
    [
        (0.35, 1.0, 8),
        (0.35, 0.35, 3),
        (None, 1.0, 8),
        (None, 0.2, 5),
        (0.2, None, 5),
        (None, None, 5),
        (0.7, None, 5),
    ],
)
def test_the_largest_metric_counts_and_a_missing_one_blocks_scale_in(cpu, busy, wanted):
    assert (
        target_once(Hpa(metrics="cpu 0.7, busy 0.7", down_window_s=0.0), 5, cpu=cpu, busy=busy)
        == wanted
    )


def test_percentages_and_shares_are_both_accepted():
    assert [
        target_once(Hpa(metrics=text), 10, cpu=0.9) for text in ("cpu 60%", "cpu 0.6", "cpu=60%")
    ] == [
        15,
        15,
        15,
    ]


def test_a_fractional_percentage_is_compared_as_a_plain_value():
    assert target_once(Hpa(metrics="cpu 0.625"), 10, cpu=0.6905) == 12  # 1.104 of it
    assert target_once(Hpa(metrics="cpu 0.62"), 10, cpu=0.6905) == 12  # 69 / 62 = 1.1129


def test_without_behavior_the_default_kubernetes_policies_apply():
    assert closed_loop(Hpa(metrics="cpu 0.5", behavior="unset"), [50.0] * 6, 1, step_s=15.0) == [
        4,
        8,
        16,
        32,
        64,
        100,
    ]
    assert closed_loop(Hpa(metrics="cpu 0.5", behavior="unset"), [1.0] * 7, 8) == [
        8,
        8,
        8,
        8,
        8,
        2,
        2,
    ]


def test_a_total_is_divided_among_the_executors():
    policy = Hpa(metrics="lag_rows 1000 each", down_window_s=0.0)
    assert [target_once(policy, 4, lag_rows=lag) for lag in (8000.0, 4100.0, 2000.0)] == [8, 4, 2]


def test_memory_stays_bounded_for_an_hour():
    script = [
        Observation(t_s=float(n), executors=4 + n % 7, cpu=0.3 + n % 13 / 20) for n in range(3600)
    ]
    _, memory = follow(Hpa(), script)
    assert sum(len(kept) for kept in memory.values() if isinstance(kept, list)) < 60


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"metrics": "cpu"}, "'cpu'"),
        ({"metrics": "speed 0.7"}, "'speed 0.7'"),
        ({"metrics": "application 1"}, "application"),
        ({"metrics": "cpu 0"}, "above 0, but it is 0"),
        ({"metrics": "cpu 1e"}, "1e"),
        ({"metrics": "cpu 0.7, cpu 0.8"}, "named once"),
        ({"tolerance_up": -0.1}, "-0.1"),
        ({"tolerance_down": 1.0}, "1.0"),
        ({"up_window_s": -1.0}, "-1.0"),
        ({"up_policies": "Pods four 15"}, "'Pods four 15'"),
        ({"up_policies": "Pods 0 15"}, "'Pods 0 15'"),
        ({"down_policies": "Percent 10 1801"}, "1801"),
        ({"down_select": "Mean"}, "'Mean'"),
        ({"up_select": "unset"}, "'unset'"),
        ({"behavior": "none"}, "'none'"),
    ],
)
def test_an_invalid_parameter_is_rejected_with_its_value(given, message):
    with pytest.raises(BadInput, match=message):
        Hpa(**given)
