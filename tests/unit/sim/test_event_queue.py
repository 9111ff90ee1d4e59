"""Events run in order of their time."""

from functools import partial

from rheostat.sim.engine import Events


def test_events_run_in_time_order() -> None:
    events = Events()
    happened: list[float] = []
    for t_s in (3.0, 1.0, 2.0):
        events.at(t_s, happened.append)
    events.run(2.5)
    assert happened == [1.0, 2.0]
    assert events.now == 2.5
    events.run(3.0)
    assert happened == [1.0, 2.0, 3.0]


def test_simultaneous_events_run_in_scheduling_order() -> None:
    events, happened = Events(), []
    for name in "abc":
        events.at(1.0, lambda _, name=name: happened.append(name))  # type: ignore[misc]
    events.run(1.0)
    assert happened == ["a", "b", "c"]


def test_an_event_can_schedule_immediate_events() -> None:
    events, happened = Events(), []

    def again(left: int, t_s: float) -> None:
        happened.append(t_s)
        if left:
            events.at(t_s + 1.0, partial(again, left - 1))

    events.at(0.0, partial(again, 3))
    events.run(2.0)
    assert happened == [0.0, 1.0, 2.0]


def test_a_past_event_runs_now_and_the_clock_never_goes_back() -> None:
    events, happened = Events(), list[float]()
    events.run(10.0)
    events.at(3.0, happened.append)
    events.run(5.0)
    assert (happened, events.now) == ([], 10.0)
    events.run(10.0)
    assert happened == [10.0]


def test_without_events_nothing_runs() -> None:
    events = Events()
    assert not events.run_next()
    events.at(4.0, lambda _: None)
    assert events.run_next()
    assert events.now == 4.0
