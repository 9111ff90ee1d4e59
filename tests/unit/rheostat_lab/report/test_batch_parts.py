import pytest

from rheostat_lab.report.batch_parts import PARTS, longest, parts, parts_of
from rheostat_lab.report.finished_run import CommittedBatch

PLAIN = CommittedBatch(0, 10, 0.0, 2.0, 10)
SPLIT = CommittedBatch(
    0, 10, 0.0, 2.0, 10, {"addBatch": 1.5, "walCommit": 0.2, "triggerExecution": 2.0}
)


def test_parts_and_remainder_sum_to_the_batch_time() -> None:
    assert sum(parts_of(SPLIT).values()) == pytest.approx(2.0)
    assert parts_of(SPLIT)["rest"] == pytest.approx(0.3)


def test_overlapping_parts_leave_no_negative_remainder() -> None:
    more = CommittedBatch(0, 10, 0.0, 1.0, 10, {"addBatch": 1.2})
    assert parts_of(more)["rest"] == 0.0


def test_a_batch_without_known_parts_has_none() -> None:
    assert parts_of(PLAIN) == {}
    assert parts([PLAIN]) == []


def test_shares_cover_batches_with_known_parts_and_sum_to_one() -> None:
    result = parts([PLAIN, SPLIT, SPLIT])
    assert [part.name for part in result] == ["addBatch", "walCommit", "rest"]
    assert sum(part.share for part in result) == pytest.approx(1.0)
    assert result[0].mean_s == pytest.approx(1.5)
    assert result[0].meaning == PARTS["addBatch"]


def test_the_longest_batch_is_reported_with_its_largest_part() -> None:
    assert longest([PLAIN]) == "the longest batch took 2.0 s"
    assert longest([SPLIT]) == "the longest batch took 2.0 s, 1.5 s of it addBatch"
    assert longest([]) == ""
