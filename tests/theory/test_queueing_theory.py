"""The engine matches queueing theory: waits within their interval, Little's law, conservation."""

import pytest

from rheostat.errors import BadInput
from rheostat.sim.noise import streams
from rheostat_lab.validation.theory_queue import Queue, QueueSpec, validate

QUEUES = [
    QueueSpec(servers=1, arrival_per_s=0.5, service_per_s=1.0),
    QueueSpec(servers=1, arrival_per_s=8.0, service_per_s=10.0),
    QueueSpec(servers=3, arrival_per_s=2.4, service_per_s=1.0),
    QueueSpec(servers=12, arrival_per_s=50.0, service_per_s=5.0),
    QueueSpec(servers=1, arrival_per_s=0.5, service_per_s=1.0, law="deterministic"),
    QueueSpec(servers=1, arrival_per_s=1.6, service_per_s=2.0, law="deterministic"),
]


@pytest.mark.parametrize(
    "spec", QUEUES, ids=lambda spec: f"{spec.law} {spec.servers} servers {spec.load:.2f}"
)
def test_the_mean_wait_of_theory_lies_in_a_narrow_interval(spec: QueueSpec) -> None:
    found = validate(spec, seed=5, customers=3_000, runs=12)
    assert found.theory_wait_s is not None
    assert found.wait_low_s <= found.theory_wait_s <= found.wait_high_s
    assert found.wait_high_s - found.wait_low_s < 0.9 * found.theory_wait_s


def test_the_interval_of_a_queue_does_not_hold_the_wait_of_another() -> None:
    found = validate(
        QueueSpec(servers=1, arrival_per_s=0.8, service_per_s=1.0), seed=5, customers=4_000, runs=12
    )
    other = QueueSpec(servers=1, arrival_per_s=0.8, service_per_s=1.0, law="deterministic")
    assert other.wait_s is not None
    assert not found.wait_low_s <= other.wait_s <= found.wait_high_s


def test_known_waits_of_theory() -> None:
    assert QueueSpec(servers=1, arrival_per_s=0.8, service_per_s=1.0).wait_s == pytest.approx(4.0)
    assert QueueSpec(
        servers=1, arrival_per_s=0.8, service_per_s=1.0, law="deterministic"
    ).wait_s == pytest.approx(2.0)
    assert QueueSpec(servers=2, arrival_per_s=1.0, service_per_s=1.0).wait_s == pytest.approx(
        1 / 3
    )  # C(2, 1) = 1/3
    assert (
        QueueSpec(servers=2, arrival_per_s=1.0, service_per_s=1.0, law="deterministic").wait_s
        is None
    )


def test_littles_law_holds_between_the_integral_and_the_customers() -> None:
    found = validate(QUEUES[2], seed=1, customers=1_000, runs=2)
    assert found.number == pytest.approx(found.rate_x_time, rel=1e-9)


def test_who_has_come_has_left_or_is_inside_at_every_moment() -> None:
    queue = Queue(QUEUES[2], 500, *streams(3, 2))
    most = 0
    while queue.events.run_next():
        assert queue.arrived == queue.left + queue.inside
        most = max(most, queue.inside)
    assert most > QUEUES[2].servers
    assert (queue.arrived, queue.left, queue.inside) == (500, 500, 0)


def test_a_wait_is_what_the_customer_before_had_left() -> None:
    queue = Queue(QUEUES[5], 500, *streams(3, 2))
    left_s: list[float] = []
    while queue.events.run_next():
        left_s += [queue.events.now] * (queue.left - len(left_s))
    came_s = [left - time for left, time in zip(left_s, queue.times_s, strict=True)]
    assert came_s == pytest.approx(sorted(came_s))  # first come, first served
    for n in range(1, 500):  # Lindley's recursion for one server
        assert queue.waits_s[n] == pytest.approx(max(0.0, left_s[n - 1] - came_s[n]), abs=1e-9)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"servers": 0, "arrival_per_s": 1.0, "service_per_s": 2.0}, "1 server or more"),
        (
            {"servers": 1, "arrival_per_s": 0.0, "service_per_s": 2.0},
            "arrival must be a rate above 0",
        ),
        (
            {"servers": 1, "arrival_per_s": 1.0, "service_per_s": float("nan")},
            "service must be a rate above 0",
        ),
        ({"servers": 2, "arrival_per_s": 2.0, "service_per_s": 1.0}, "grows without end"),
        (
            {"servers": 1, "arrival_per_s": 1.0, "service_per_s": 2.0, "law": "normal"},
            "exponential or deterministic",
        ),
    ],
)
def test_what_is_no_queue_is_said_in_one_line(given: dict[str, float], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        QueueSpec(**given)  # type: ignore[arg-type]
