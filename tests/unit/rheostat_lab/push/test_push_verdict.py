from __future__ import annotations

from rheostat_lab.push.push_verdict import judge
from rheostat_lab.push.sender import value_of


def rows(*ids: str) -> list[tuple[str, str]]:
    return [(id_, value_of(id_)) for id_ in ids]


def test_acknowledged_records_delivered_exactly_once_are_exact():
    assert judge({"a", "b"}, {"a", "b"}, rows("a", "b")).exact


def test_unacknowledged_records_may_be_delivered():
    verdict = judge({"a"}, {"a", "b"}, rows("a", "b"))
    assert (verdict.exact, verdict.unacknowledged) == (True, 1)


def test_missing_duplicated_and_wrong_records_are_counted():
    verdict = judge({"a", "b"}, {"a", "b"}, [*rows("a", "a"), ("z", "?"), ("b", "other")])
    assert (verdict.missing, verdict.doubled, verdict.wrong) == (0, 1, 2)
    assert judge({"a", "b"}, {"a", "b"}, rows("a")).missing == 1
