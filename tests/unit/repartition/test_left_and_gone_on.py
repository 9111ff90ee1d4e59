"""A repartition was killed and abandoned, and the query has continued until Spark deleted the
batches of that time: it can still be ended, and another one can begin.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.repartition.test_refused import quiet
from tests.unit.repartition.toy_query import ROWS, ToyEngine, ToyQuery, expected

from rheostat.errors import BadInput, RheostatError
from rheostat.repartition.repartition_log import RepartitionState
from rheostat.repartition.spark_repartition import repartition, undo


class Killed(BaseException):
    """Replaces a kill of the command at this point."""


def to(checkpoint: Path, partitions: int, killed_in: str = "") -> RepartitionState:
    def progress(phase: str, _done: int, _total: int) -> None:
        if phase == killed_in:
            raise Killed

    return repartition(
        str(checkpoint), partitions, lambda _: ToyEngine(), progress=progress, check_stopped=quiet
    )


def abandon_in(checkpoint: Path, phase: str) -> ToyQuery:
    """Kill a repartition from 4 to 7, run three batches, and delete everything older."""
    query = ToyQuery(checkpoint)
    query.run(3)
    with pytest.raises(Killed):
        to(checkpoint, 7, phase)
    query.run(3)
    for log in ("offsets", "commits"):
        for entry in (checkpoint / log).iterdir():
            if int(entry.name) < 5:
                entry.unlink()
    return query


def output_is_correct(query: ToyQuery) -> bool:
    query.run()
    return query.output == expected(ROWS)


@pytest.mark.parametrize("phase", ["begun", "written", "verified"])
def test_an_abandoned_repartition_with_the_old_number_is_undone(tmp_path: Path, phase: str) -> None:
    query = abandon_in(tmp_path, phase)
    assert undo(str(tmp_path), check_stopped=quiet).phase == "ended"
    assert to(tmp_path, 9).phase == "done"
    assert query.partitions == 9
    assert output_is_correct(query)


@pytest.mark.parametrize("phase", ["begun", "written", "verified"])
def test_the_same_command_first_rolls_back_and_then_repartitions(
    tmp_path: Path, phase: str
) -> None:
    query = abandon_in(tmp_path, phase)
    with pytest.raises(RheostatError, match="is as it was before: the query has planned a batch"):
        to(tmp_path, 7)
    assert to(tmp_path, 7).phase == "done"
    assert query.partitions == 7
    assert output_is_correct(query)


def test_a_repartition_with_the_new_number_is_done_and_another_can_begin(tmp_path: Path) -> None:
    query = abandon_in(tmp_path, "committed")
    with pytest.raises(BadInput, match="has planned a batch with 7 partitions since"):
        undo(str(tmp_path), check_stopped=quiet)
    assert to(tmp_path, 7).phase == "done"
    assert query.partitions == 7
    assert to(tmp_path, 5).phase == "done"
    assert query.partitions == 5
    assert output_is_correct(query)
