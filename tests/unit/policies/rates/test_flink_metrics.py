from typing import Any

import pytest

from rheostat.errors import BadInput
from rheostat.model import Observation, Stage
from rheostat.policies.rates.flink_metrics import LAG, Window, observed_rate, sample, vertices
from rheostat.signals.statistics.windows import extended


def joined(**signals: Any) -> Observation:
    """Two sources and a join, over a batch of 2 s on four slots."""
    return Observation(
        t_s=0.0,
        executors=4,
        batch_s=2.0,
        trigger_s=1.0,
        **signals,
        stages=(
            Stage(
                name="join",
                upstream=("left", "right"),
                rows_in=300.0,
                rows_out=30.0,
                busy_s=4.0,
                tasks=12,
            ),
            Stage(name="left", rows_in=200.0, rows_out=200.0, busy_s=2.0, tasks=6, pending=50),
            Stage(name="right", rows_in=400.0, rows_out=100.0, busy_s=1.0, pending=0),
        ),
    )


def test_stages_become_vertices_in_topological_order_with_partitions():
    assert [(v.name, v.upstream, v.partitions, v.keyed) for v in vertices(joined())] == [
        ("left", (), 6, False),
        ("right", (), None, False),
        ("join", ("left", "right"), 12, True),
    ]


def test_a_sample_has_rates_busy_share_and_source_lag():
    assert sample(joined(), vertices(joined())) == {
        "left": [100.0, 100.0, 0.25, 50],
        "right": [200.0, 50.0, 0.125, 0],
        "join": [150.0, 15.0, 0.5, None],
    }


@pytest.mark.parametrize("absent", ["lag_rows", "busy", "processed_rows_per_s"])
def test_a_missing_signal_is_rejected_instead_of_read_as_zero(absent):
    signals: dict[str, Any] = {
        "lag_rows": 0.0,
        "busy": 0.5,
        "processed_rows_per_s": 100.0,
        absent: None,
    }
    with pytest.raises(BadInput, match="unknown"):
        sample(Observation(t_s=0.0, executors=1, **signals), vertices(Observation(t_s=0.0)))


@pytest.mark.parametrize(
    ("lag", "pressed_ms", "rate"),
    [
        (3000.0, 0.0, 100.0),
        (3000.0, 500.0, 200.0),
        (2999.0, 0.0, None),
        (3000.0, 1000.0, None),
        (3000.0, None, None),
        (None, 0.0, None),
    ],
)
def test_a_source_rate_is_observed_only_while_catching_up(lag, pressed_ms, rate):
    assert (
        observed_rate(
            [100.0, None, 1.0, lag], Observation(t_s=0.0, backpressure_ms_per_s=pressed_ms), 30.0
        )
        == rate
    )


Rows = dict[str, list[float | None]]


def history(*samples: tuple[float, Rows], window_s: float = 1e9) -> Window:
    window = Window([], {name: [[]] * 5 for name in samples[0][1]})
    for t, rows in samples:
        window = Window(
            *extended(
                window.times,
                window.columns,
                t,
                {name: [*row, None] for name, row in rows.items()},
                window_s,
            )
        )
    return window


def test_the_window_averages_samples_and_computes_lag_growth():
    samples: list[tuple[float, Rows]] = [
        (0.0, {"job": [100.0, None, 0.5, 1000.0]}),
        (60.0, {"job": [200.0, None, None, 700.0]}),
    ]
    window = history(*samples)
    assert window.mean("job", 0) == 150.0
    assert window.mean("job", 2) == 0.5
    assert window.mean("job", 2, at_least=2) is None
    assert window.lag_rate("job") == -5.0
    assert history(*samples, window_s=59.0).mean("job", 0) == 200.0
    assert history(*samples, window_s=60.0).times == [0.0, 60.0]


def test_a_source_target_covers_arrivals_lag_growth_and_catch_up():
    graph = vertices(Observation(t_s=0.0))
    growing = history(
        (0.0, {"job": [100.0, None, 0.5, 0.0]}), (60.0, {"job": [100.0, None, 0.5, 1800.0]})
    )
    assert growing.targets(graph, 1800.0) == {"job": (130.0, 1.0)}
    assert growing.targets(graph, 0.0) == {"job": (130.0, 0.0)}
    draining = history(
        (0.0, {"job": [100.0, None, 0.5, 60_000.0]}), (60.0, {"job": [100.0, None, 0.5, 0.0]})
    )
    assert draining.targets(graph, 1800.0) == {"job": (0.0, 0.0)}


def test_a_join_target_sums_the_output_of_its_upstreams():
    graph = vertices(joined())
    row = sample(joined(), graph)
    targets = history((0.0, row), (10.0, {**row, "left": [100.0, 100.0, 0.25, 550.0]})).targets(
        graph, 100.0
    )
    assert targets["left"] == (150.0, 5.5)  # 100 + 500 / 10
    assert targets["right"] == (200.0, 0.0)
    assert targets["join"] == (150.0 * 1.0 + 200.0 * 0.25, 5.5)


def test_edge_rows_come_from_the_downstream_reader():
    fan = Observation(
        t_s=0.0,
        executors=1,
        batch_s=1.0,
        lag_rows=0.0,
        stages=(
            Stage(name="read", rows_in=100.0, rows_out=100.0, busy_s=0.1),
            Stage(
                name="few", upstream=("read",), rows_in=10.0, rows_out=0.0, busy_s=0.1
            ),  # a side output: not all 100
            Stage(name="all", upstream=("read",), rows_in=100.0, rows_out=0.0, busy_s=0.1),
        ),
    )
    row = sample(fan, vertices(fan))
    targets = history((0.0, row), (1.0, row)).targets(vertices(fan), 0.0)
    assert {name: target for name, (target, _) in targets.items()} == {
        "read": 100.0,
        "few": 10.0,
        "all": 100.0,
    }
    assert row["few"][LAG] is None
