from __future__ import annotations

from rheostat.spark.resizing.state_loading import PendingMoves


def pending(**to: str) -> PendingMoves:
    """Return moves of partition 0 of each run."""
    moves = PendingMoves()
    moves.add({(run_id, 0): executor for run_id, executor in to.items()})
    return moves


def test_a_move_waits_for_a_batch_boundary_of_its_own_query():
    moves = pending(a="1", b="2")
    assert moves.take(["a"]) == {("a", 0): "1"}
    assert moves.runs == {"b"}
    assert moves.take(["a"]) == {}


def test_lost_partitions_move_without_waiting():
    moves = pending(a="1", b="2")
    assert moves.take([], lost={("b", 0)}) == {("b", 0): "2"}
    assert moves.runs == {"a"}


def test_the_later_move_of_a_partition_wins():
    moves = pending(a="1")
    moves.add({("a", 0): "3"})
    assert moves.take(["a"]) == {("a", 0): "3"}
    assert not moves


def test_moves_of_an_ended_query_are_dropped():
    moves = pending(a="1", b="2")
    moves.keep(["b"])
    assert moves.runs == {"b"}
