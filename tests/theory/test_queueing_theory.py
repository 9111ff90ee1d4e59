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
def test_the_theoretical_mean_wait_lies_in_a_narrow_interval(spec: QueueSpec) -> None:
    result = validate(spec, seed=5, customers=3_000, runs=12)
    assert result.theory_wait_s is not None
    assert result.wait_low_s <= result.theory_wait_s <= result.wait_high_s
    assert result.wait_high_s - result.wait_low_s < 0.9 * result.theory_wait_s


def test_the_interval_of_one_queue_excludes_the_wait_of_another() -> None:
    result = validate(
        QueueSpec(servers=1, arrival_per_s=0.8, service_per_s=1.0), seed=5, customers=4_000, runs=12
    )
    other = QueueSpec(servers=1, arrival_per_s=0.8, service_per_s=1.0, law="deterministic")
    assert other.wait_s is not None
    assert not result.wait_low_s <= other.wait_s <= result.wait_high_s


def test_mean_waits_match_known_values() -> None:
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


def test_littles_law_holds_for_integral_and_customers() -> None:
    result = validate(QUEUES[2], seed=1, customers=1_000, runs=2)
    assert result.number == pytest.approx(result.rate_x_time, rel=1e-9)


def test_customers_are_conserved_at_every_event() -> None:
    queue = Queue(QUEUES[2], 500, *streams(3, 2))
    most = 0
    while queue.events.run_next():
        assert queue.arrived == queue.left + queue.inside
        most = max(most, queue.inside)
    assert most > QUEUES[2].servers
    assert (queue.arrived, queue.left, queue.inside) == (500, 500, 0)


def test_waits_follow_lindleys_recursion() -> None:
    queue = Queue(QUEUES[5], 500, *streams(3, 2))
    left_s: list[float] = []
    while queue.events.run_next():
        left_s += [queue.events.now] * (queue.left - len(left_s))
    arrival_s = [left - time for left, time in zip(left_s, queue.times_s, strict=True)]
    assert arrival_s == pytest.approx(sorted(arrival_s))  # first come, first served
    for n in range(1, 500):  # Lindley's recursion for one server
        assert queue.waits_s[n] == pytest.approx(max(0.0, left_s[n - 1] - arrival_s[n]), abs=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
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
def test_an_invalid_queue_is_rejected_in_one_line(given: dict[str, float], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        QueueSpec(**given)  # type: ignore[arg-type]
