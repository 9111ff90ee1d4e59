from __future__ import annotations

from rheostat.operator.observed import UnappliedSizes


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_our_own_writes_are_not_a_conflict() -> None:
    sizes = UnappliedSizes(Clock())
    for size in range(1, 9):
        sizes.writes("u", size)
        sizes.record("u", "policy", size)
    assert sizes.size("u") is None


def test_three_writes_in_two_minutes_are_a_conflict_until_they_stop() -> None:
    clock = Clock()
    sizes = UnappliedSizes(clock)
    sizes.record("u", "policy", 9)  # before our first write
    sizes.writes("u", 5)
    for _ in range(3):
        assert sizes.size("u") is None
        sizes.record("u", "policy", 3)
        sizes.record("u", "policy", 5)
        clock.now += 15.0
    assert sizes.size("u") == 3
    clock.now += 120.0
    assert sizes.size("u") is None


def test_external_mode_reads_every_size() -> None:
    sizes = UnappliedSizes(Clock())
    sizes.writes("u", 5)
    for _ in range(3):
        sizes.record("u", "policy", 3)
    sizes.record("u", "external", 3)
    assert sizes.size("u") is None
