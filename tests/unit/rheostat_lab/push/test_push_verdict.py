from __future__ import annotations

from rheostat_lab.push.push_verdict import judge
from rheostat_lab.push.sender import value_of


def rows(*ids: str) -> list[tuple[str, str]]:
    return [(each, value_of(each)) for each in ids]


def test_each_acknowledged_record_once_is_exact():
    assert judge({"a", "b"}, {"a", "b"}, rows("a", "b")).exact


def test_a_record_that_was_sent_and_not_acknowledged_may_come():
    verdict = judge({"a"}, {"a", "b"}, rows("a", "b"))
    assert (verdict.exact, verdict.unacknowledged) == (True, 1)


def test_what_lacks_is_doubled_or_wrong_is_counted():
    verdict = judge({"a", "b"}, {"a", "b"}, [*rows("a", "a"), ("z", "?"), ("b", "other")])
    assert (verdict.missing, verdict.doubled, verdict.wrong) == (0, 1, 2)
    assert judge({"a", "b"}, {"a", "b"}, rows("a")).missing == 1
