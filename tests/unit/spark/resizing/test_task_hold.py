from __future__ import annotations

from rheostat.spark.resizing.locality import TaskHold


def test_each_change_is_told_once():
    said: list[bool] = []
    hold = TaskHold(said.append)
    for changing in (False, True, True, False, False):
        hold.follow(changing)
    assert said == [True, False]


def test_at_the_end_no_task_is_held():
    said: list[bool] = []
    hold = TaskHold(said.append)
    hold.end()
    hold.follow(True)
    hold.end()
    assert said == [True, False]
