from __future__ import annotations

from rheostat.spark.resizing.locality import TaskHold


def test_every_change_is_applied_once():
    states: list[bool] = []
    hold = TaskHold(states.append)
    for changing in (False, True, True, False, False):
        hold.follow(changing)
    assert states == [True, False]


def test_no_task_is_held_at_the_end():
    states: list[bool] = []
    hold = TaskHold(states.append)
    hold.end()
    hold.follow(True)
    hold.end()
    assert states == [True, False]
