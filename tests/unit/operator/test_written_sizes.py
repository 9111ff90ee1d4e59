from __future__ import annotations

from rheostat.operator.observed import UnappliedSizes


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_size_in_force_that_we_write_ourselves_is_nobodys_fight() -> None:
    sizes = UnappliedSizes(Clock())
    for size in range(1, 9):
        sizes.writes("u", size)
        sizes.record("u", "policy", size)
    assert sizes.size("u") is None


def test_who_writes_three_times_in_two_minutes_is_seen_until_he_stops() -> None:
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


def test_in_the_mode_external_every_size_is_read() -> None:
    sizes = UnappliedSizes(Clock())
    sizes.writes("u", 5)
    for _ in range(3):
        sizes.record("u", "policy", 3)
    sizes.record("u", "external", 3)
    assert sizes.size("u") is None
