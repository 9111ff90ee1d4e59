from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rheostat.protocols.orders import MANY_FAILURES, tolerated_failures, total_to_request

few = st.integers(0, 50)


def test_refused_executors_are_excluded_from_the_total() -> None:
    assert total_to_request(8, 3, refused=True, tolerated_failures=MANY_FAILURES) == 3


def test_the_total_grows_by_doubling_where_failures_are_tolerated() -> None:
    assert total_to_request(4, 3, refused=False, tolerated_failures=MANY_FAILURES) == 4
    assert total_to_request(8, 3, refused=False, tolerated_failures=MANY_FAILURES) == 7
    assert total_to_request(90, 30, refused=False, tolerated_failures=MANY_FAILURES) == 60


def test_the_total_grows_by_one_where_few_failures_are_tolerated() -> None:
    assert total_to_request(8, 3, refused=False, tolerated_failures=3) == 4


@given(few, few, st.booleans(), st.integers(1, 200))
def test_the_total_is_between_the_existing_and_the_wanted_number(
    wanted: int, existing: int, refused: bool, tolerated_failures: int
) -> None:
    total = total_to_request(
        wanted, existing, refused=refused, tolerated_failures=tolerated_failures
    )
    assert total == wanted or existing <= total <= wanted


def test_tolerated_failures_are_the_setting_or_sparks_default() -> None:
    assert tolerated_failures("40", 1) == 40
    assert tolerated_failures(None, 1) == 3
    assert tolerated_failures("many", 8) == 16
