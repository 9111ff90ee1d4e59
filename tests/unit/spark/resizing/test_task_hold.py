from __future__ import annotations

from rheostat.spark.resizing.locality import TaskHold


def test_tasks_are_held_while_the_size_changes() -> None:
    waits: list[str | None] = []
    hold = TaskHold(waits.append, longer="10s")
    for changing in (False, True, True, False, False):
        hold.follow(changing)
    assert waits == ["10s", None]


def test_tasks_are_released_at_the_end_if_they_were_held() -> None:
    waits: list[str | None] = []
    hold = TaskHold(waits.append, longer="10s")
    hold.end()
    hold.follow(changing=True)
    hold.end()
    hold.end()
    assert waits == ["10s", None]


def test_a_usual_wait_replaces_the_configured_one_until_the_end() -> None:
    waits: list[str | None] = []
    hold = TaskHold(waits.append, usual="3s", longer="10s")
    hold.start()
    hold.follow(changing=True)
    hold.follow(changing=False)
    hold.end()
    assert waits == ["3s", "10s", "3s", None]
