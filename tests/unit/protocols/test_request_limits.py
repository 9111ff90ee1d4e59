from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rheostat.protocols.orders import MANY_FAILURES, tolerated_failures, total_to_request

few = st.integers(0, 50)


def test_what_is_refused_is_no_part_of_the_total() -> None:
    assert total_to_request(8, 3, refused=True, tolerated_failures=MANY_FAILURES) == 3


def test_a_few_or_as_many_as_there_are_are_asked_for_where_failures_are_borne() -> None:
    assert total_to_request(4, 3, refused=False, tolerated_failures=MANY_FAILURES) == 4
    assert total_to_request(8, 3, refused=False, tolerated_failures=MANY_FAILURES) == 7
    assert total_to_request(90, 30, refused=False, tolerated_failures=MANY_FAILURES) == 60


def test_one_more_at_a_time_where_a_few_refusals_would_end_the_application() -> None:
    assert total_to_request(8, 3, refused=False, tolerated_failures=3) == 4


@given(few, few, st.booleans(), st.integers(1, 200))
def test_the_total_lies_between_what_is_there_and_what_is_wanted(
    wanted: int, existing: int, refused: bool, tolerated_failures: int
) -> None:
    total = total_to_request(
        wanted, existing, refused=refused, tolerated_failures=tolerated_failures
    )
    assert total == wanted or existing <= total <= wanted


def test_what_is_borne_is_the_setting_or_what_spark_reckons() -> None:
    assert tolerated_failures("40", 1) == 40
    assert tolerated_failures(None, 1) == 3
    assert tolerated_failures("many", 8) == 16
