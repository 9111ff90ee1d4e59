# mypy: disallow-untyped-calls=False
"""Leader election with a lease that several candidates write."""

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from rheostat.operator.candidate import LEADS_S, LEASE_S, Candidate, Held


class OneLease:
    """A lease with the behaviour of the API server: writes of an old version are rejected."""

    def __init__(self):
        self.held: Held | None = None
        self.writes, self.down = 0, False

    def read(self):
        if self.down:
            raise OSError("no answer")
        return self.held

    def write(self, holder, version):
        if version != (self.held.version if self.held else None):
            return False
        self.writes += 1
        self.held = Held(holder, str(self.writes))
        return True


def test_the_first_candidate_leads_while_it_renews_the_lease():
    lease = OneLease()
    first, second = Candidate("a", lease), Candidate("b", lease)
    for now in range(0, 100, 2):
        first.turn(now)
        second.turn(now)
        assert first.leads(now)
        assert not second.leads(now)


def test_the_second_candidate_leads_only_after_the_lease_expires():
    lease = OneLease()
    first, second = Candidate("a", lease), Candidate("b", lease)
    first.turn(0.0)
    led_at = []
    for now in range(1, 30):
        second.turn(float(now))
        led_at += [now] if second.leads(now) else []
    assert led_at[0] == 1 + LEASE_S
    assert not first.leads(LEADS_S)
    first.turn(30.0)
    assert not first.leads(30.0)


def test_a_released_lease_is_acquired_at_once():
    lease = OneLease()
    first, second = Candidate("a", lease), Candidate("b", lease)
    first.turn(0.0)
    second.turn(1.0)
    first.release(2.0)
    second.turn(3.0)
    assert second.leads(3.0)
    assert not first.leads(3.0)


def test_a_candidate_without_the_api_server_stops_leading_at_its_deadline():
    lease = OneLease()
    only = Candidate("a", lease)
    only.turn(0.0)
    lease.down = True
    for now in (2.0, 4.0):
        with contextlib.suppress(OSError):
            only.turn(now)
    assert only.leads(LEADS_S - 0.1)
    assert not only.leads(LEADS_S)


turns = st.lists(st.tuples(st.integers(0, 2), st.floats(0, 20), st.floats(-900, 900)), max_size=80)


@given(turns)
def test_at_most_one_candidate_leads_with_any_delays_and_clock_offsets(steps):
    """Each has its own clock with its own origin; turns come in any order, with any delay."""
    lease = OneLease()
    candidates = [Candidate(name, lease) for name in "abc"]
    offsets = [steps[n][2] if n < len(steps) else 0.0 for n in range(3)]
    now = 0.0
    for index, delay_s, _ in steps:
        now += delay_s
        candidates[index].turn(now + offsets[index])
        leading = [
            candidate.leads(now + offset)
            for candidate, offset in zip(candidates, offsets, strict=True)
        ]
        assert sum(leading) <= 1
