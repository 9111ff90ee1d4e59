"""The events of a job other than its decisions."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.journal.test_totals import NOON_S, record, start

from rheostat.journal.explanation import History
from rheostat.journal.starts import SHADOW, Start
from rheostat.model import Record, Rescaling
from rheostat.protocols.size_in_force import OTHER


def events(records: list[Record], *starts: Start) -> list[str]:
    history = History(starts)
    assert list(history.passing(records)) == records
    return [text.partition("): ")[2] for _, text in history.lines()]


def sized(tick: int, size: int, target: int | None = None) -> Record:
    made = record(NOON_S + 5 * tick, size, target)
    assert made.observation
    return replace(made, observation=replace(made.observation, target=size))


def test_a_restart_is_shown_with_the_time_without_records():
    ticks = [sized(0, 3), sized(1, 3), sized(17, 1), sized(18, 1)]
    lines = events(ticks, start(t_s=NOON_S - 1, pid=7, host="a"), start(t_s=NOON_S + 83))
    assert lines == [
        "the autoscaler started: live mode, policy predictive, 1 to 8 executors, objective 10 s,"
        " process 7 on a",
        "the driver was restarted, 1 min 18 s after the last record: live mode, policy predictive,"
        " 1 to 8 executors, objective 10 s",
    ]


def test_an_unexplained_gap_is_shown():
    assert events([sized(0, 3), sized(60, 3)]) == [
        "no record for 5 min before: the driver was down or did not decide"
    ]


def test_an_undecided_size_change_is_attributed_to_others():
    ticks = [sized(0, 3, 4), sized(1, 4), sized(2, 4), sized(3, 2), sized(4, 2, 4), sized(5, 2, 4)]
    assert events(ticks) == [
        "the size changed from 4 to 2 executors without a decision of Rheostat"
    ]


def test_every_size_change_in_shadow_mode_is_attributed_to_others():
    (_, line) = events([sized(0, 3, 4), sized(1, 4)], start(t_s=0.0, mode=SHADOW))
    assert line == "the size changed from 3 to 4 executors without a decision of Rheostat"


def test_a_request_of_another_program_is_shown():
    detail = f"{OTHER} 2, Rheostat for 6 again"
    tick = replace(sized(1, 6), rescaling=Rescaling(phase="steady", detail=detail))
    assert events([sized(0, 6), tick]) == [detail]


def test_the_most_frequent_reason_is_given_regardless_of_its_numbers():
    history = History()
    reasons = ["needed for 70 rows/s", "needed for 71.5 rows/s", "cooling down for 3 s more"]
    for tick, reason in enumerate(["another target", *reasons]):
        tick_record = sized(tick, 3, 4 if tick else 3)
        assert tick_record.raw
        list(history.passing([replace(tick_record, raw=replace(tick_record.raw, reason=reason))]))
    assert history.unchanged() == (
        "The target has been 4 executors for 10 s; 67% of the decisions since gave this reason:"
        " needed for 71.5 rows/s"
    )
    assert History().unchanged() == ""
