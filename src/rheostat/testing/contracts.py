"""Contracts of the extension points, as named checks: what every policy, guard and journal keeps,
yours too.

Each check takes a function that makes a fresh object and raises AssertionError with one sentence if
a promise is broken::

    @pytest.mark.parametrize(("name", "check"), policy_checks())
    def test_my_policy(name, check):
        check(MyPolicy)
"""

from __future__ import annotations

from rheostat.testing.guard_contract import check_bounds, guard_checks
from rheostat.testing.journal_contract import journal_checks
from rheostat.testing.observation_script import Checks, follow, minutes
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
