from __future__ import annotations

from collections.abc import Callable

from rheostat.spark.resizing.batch_boundaries import FRESH_S, IDLE_S, BatchBoundaryTracker


def busy(run_id: str, quiet_s: float) -> bool:
    return False


class Watch:
    """Rounds that are observed often enough for every boundary to be recent."""

    def __init__(self) -> None:
        self.rounds = BatchBoundaryTracker()
        self.now = 0.0

    def update(self, idle: Callable[[str, float], bool] = busy, **batches: int) -> list[str]:
        self.now += FRESH_S / 2
        return sorted(self.rounds.update(batches, idle, self.now))


def test_a_query_is_at_a_boundary_when_its_batch_has_just_ended():
    watch = Watch()
    assert [watch.update(a=batch) for batch in (4, 4, 5, 5, 7)] == [[], [], ["a"], [], ["a"]]
    assert watch.rounds.number == 2


def test_without_a_query_there_are_no_rounds():
    watch = Watch()
    watch.update()
    assert watch.rounds.number is None
    watch.update(a=-1)
    assert watch.rounds.number == 0


def test_an_old_boundary_does_not_count():
    watch = Watch()
    watch.update(a=4)
    watch.now += FRESH_S
    assert watch.update(a=5) == []
    assert watch.update(a=6) == ["a"]


def test_an_idle_query_is_at_a_boundary_every_second():
    watch = Watch()
    quiet_times = []

    def idle(run_id: str, quiet_s: float) -> bool:
        quiet_times.append(quiet_s)
        return True

    seconds = 5
    passed = [watch.update(idle, a=4) for _ in range(int(seconds / (FRESH_S / 2)))]
    assert 3 <= passed.count(["a"]) <= seconds / IDLE_S
    assert len(quiet_times) == passed.count(["a"])
    assert min(quiet_times) >= IDLE_S


def test_a_long_batch_is_not_idle_and_is_checked_once_a_second():
    watch = Watch()
    quiet_times = []

    def idle(run_id: str, quiet_s: float) -> bool:
        quiet_times.append(quiet_s)
        return False

    polls = 40
    assert [watch.update(idle, a=4) for _ in range(polls)] == [[]] * polls
    assert 3 <= len(quiet_times) <= polls * FRESH_S / 2 / IDLE_S


def test_a_round_ends_when_every_query_has_passed_a_boundary():
    watch = Watch()
    watch.update(a=1, b=1)
    numbers = [watch.rounds.number]
    for a, b in ((2, 1), (3, 1), (4, 2), (5, 2), (5, 3)):
        watch.update(a=a, b=b)
        numbers.append(watch.rounds.number)
    assert numbers == [0, 0, 0, 1, 1, 2]


def test_orders_at_a_later_boundary_are_verified_after_the_following_one():
    watch = Watch()
    watch.update(a=1, b=1)
    watch.rounds.postpone("b")
    for a, b, number in ((2, 2, 0), (3, 3, 1)):
        watch.update(a=a, b=b)
        assert watch.rounds.number == number


def test_an_ended_query_does_not_delay_the_round():
    watch = Watch()
    watch.update(a=1, b=1)
    watch.update(a=2, b=1)
    watch.update(a=3)
    assert watch.rounds.number == 1
