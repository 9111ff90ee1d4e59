"""Contracts of the extension points, as named checks for every policy, guard and journal, including
your own.

Each check takes a function that creates a fresh object, and raises AssertionError with one sentence
if the object breaks a promise::

    @pytest.mark.parametrize(("name", "check"), policy_checks())
    def test_my_policy(name, check):
        check(MyPolicy)
"""

from __future__ import annotations

from collections.abc import Callable

from rheostat.model import Record, Rescaling
from rheostat.ports import Journal
from rheostat.testing.guard_contract import Checks, check_bounds, follow, guard_checks, minutes
from rheostat.testing.policy_contract import SIGNALS, policy_checks

__all__ = [
    "SIGNALS",
    "Checks",
    "check_bounds",
    "follow",
    "guard_checks",
    "journal_checks",
    "minutes",
    "policy_checks",
]


def journal_checks() -> Checks[Journal]:
    """Return the checks of a journal, by name."""
    return [
        ("starts without memory", _starts_without_memory),
        ("keeps the last memory", _keeps_the_last_memory),
    ]


def _record(t_s: float) -> Record:
    return Record(
        t_s=t_s,
        observation=None,
        queries=(),
        raw=None,
        guards=(),
        target=None,
        actions=(),
        rescaling=Rescaling(phase="idle"),
    )


def _starts_without_memory(make: Callable[[], Journal]) -> None:
    journal = make()
    assert journal.restore() == {}, "a new journal remembers something"
    assert not journal.halted(), "a new journal is halted"


def _keeps_the_last_memory(make: Callable[[], Journal]) -> None:
    journal = make()
    for n in range(3):
        journal.append(_record(float(n)), {"policy": {"n": n, "list": [1, 2.5, None]}})
    assert journal.restore() == {"policy": {"n": 2, "list": [1, 2.5, None]}}, (
        "the memory is not the one that was kept last"
    )
