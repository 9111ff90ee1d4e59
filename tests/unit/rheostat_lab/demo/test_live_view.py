import io
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from rheostat.model import GuardChange, Observation, Record, Rescaling
from rheostat_lab.demo.dashboard import Dashboard, bar, clock, decision, plain_line, rows, sparkline
from rheostat_lab.demo.live_view import PlainView, ScreenView, open_view
from rheostat_lab.report.finished_run import Run

IDLE = Record(
    t_s=0,
    observation=None,
    queries=(),
    raw=None,
    guards=(),
    target=None,
    actions=(),
    rescaling=Rescaling(phase="idle", detail="no query"),
)


def terminal(width: int = 100, height: int = 30) -> Console:
    return Console(
        file=io.StringIO(),
        width=width,
        height=height,
        force_terminal=True,
        color_system=None,
        _environ={},
    )


def seen(run: Run, ticks: int, width: int = 100, height: int = 30) -> list[str]:
    dashboard, console = (
        Dashboard(title="Rheostat", max_executors=8, slo_s=10.0),
        terminal(width, height),
    )
    for record in run.records[:ticks]:
        dashboard.see(record, record.t_s - run.start_s, run.duration_s)
    with console.capture() as capture:
        console.print(dashboard)
    return capture.get().splitlines()


def plain() -> tuple[PlainView, io.StringIO]:
    out = io.StringIO()
    return PlainView(Console(file=out, width=60, force_terminal=False)), out


def fail_in_a_step(view: ScreenView) -> None:
    view.step("the cluster starts")
    raise RuntimeError


def test_the_last_five_decisions_are_shown_newest_first(day_run: Run) -> None:
    decisions = [line.split()[0] for line in seen(day_run, len(day_run.records)) if "→" in line]
    assert len(decisions) == 5
    assert decisions == sorted(decisions, reverse=True)


def test_the_last_tick_is_told_as_wanted_allowed_decided(day_run: Run) -> None:
    record = day_run.records[0]
    assert record.raw is not None
    before = replace(record.raw, target=9, reason="lag is rising: 1399 rows/s need 9")
    held = GuardChange(
        guard="bounds", before=9, after=8, reason=f"{before.reason}; max executors is 8"
    )
    run = replace(day_run, records=[replace(record, raw=before, guards=(held,), target=8)])
    told = [line.split(maxsplit=2) for line in seen(run, 1)]
    assert [line for line in told if line and line[0] in ("wanted", "allowed", "decided")] == [
        ["wanted", "9", "lag is rising: 1399 rows/s need 9"],
        ["allowed", "8", "bounds: max executors is 8"],
        ["decided", "8", "instead of 1"],
    ]


def test_executors_on_their_way_are_shown_as_room_to_fill(day_run: Run) -> None:
    waiting = next(i for i, record in enumerate(day_run.records) if record.target == 2)
    line = next(line for line in seen(day_run, waiting + 1) if line.startswith("executors"))
    assert line.split()[1:] == ["1", "→", "2", "■□······", "growing"]


@pytest.mark.parametrize(("width", "height"), [(60, 15), (30, 6), (10, 2), (200, 60)])
def test_the_view_fits_any_terminal(day_run: Run, width: int, height: int) -> None:
    lines = seen(day_run, 50, width, height)
    assert 0 < len(lines) < height
    assert max(map(len, lines)) <= width


def test_what_is_unknown_is_a_dash_and_not_zero() -> None:
    blank = replace(IDLE, observation=Observation(t_s=0))
    dashboard, console = Dashboard(title="t", max_executors=8, slo_s=10.0), terminal()
    dashboard.see(blank, 0, 240)
    with console.capture() as capture:
        console.print(dashboard)
    assert [
        line.split()[1]
        for line in capture.get().splitlines()
        if line.startswith(("load", "lag", "latency", "executors", "batch"))
    ] == ["-"] * 5


def test_without_a_terminal_there_are_plain_lines_without_control_codes(day_run: Run) -> None:
    out = io.StringIO()
    with open_view("t", 8, 10.0, Console(file=out, width=60, force_terminal=False)) as view:
        view.step("the broker starts [1/3]")
        for record in day_run.records:
            view.show(record, record.t_s - day_run.start_s, day_run.duration_s)
        view.finish("done")
    assert "\x1b" not in out.getvalue()
    assert out.getvalue().startswith(
        "... the broker starts [1/3]\n0:00/4:00  executors 1, 1 decided"
    )


def test_plain_lines_come_every_five_seconds_and_at_each_decision(day_run: Run) -> None:
    view, out = plain()
    for record in day_run.records[:10]:
        view.show(record, record.t_s - day_run.start_s, 240)
    assert [line.split("/")[0] for line in out.getvalue().splitlines()] == [
        "0:00",
        "0:06",
        "0:12",
        "0:18",
        "0:24",
        "0:24",
    ]
    assert "1 -> 2 executors: " in out.getvalue()


def test_a_record_without_a_query_is_said_in_words() -> None:
    view, out = plain()
    view.show(IDLE, 3, 240)
    assert out.getvalue() == "0:03/4:00  no query\n"


def test_a_screen_gives_the_terminal_back_and_keeps_steps_and_notes(day_run: Run) -> None:
    console = terminal()
    with ScreenView(
        Dashboard(title="t", max_executors=8, slo_s=10.0), console, now=lambda: 0.0
    ) as view:
        view.step("the broker starts")
        view.show(day_run.records[0], 0, 240)
        view.note("executor 3 was lost")
        view.finish("the table")
    written: str = console.file.getvalue()  # type: ignore[attr-defined]
    assert written.count("\x1b[?1049h") == written.count("\x1b[?1049l") == 1
    assert written.endswith("executor 3 was lost\nthe table\n")
    assert "✓ the broker starts" in written


def test_a_step_that_fails_is_marked_and_the_cursor_comes_back() -> None:
    console = terminal()
    with (
        pytest.raises(RuntimeError),
        ScreenView(Dashboard(title="t", max_executors=8, slo_s=10.0), console) as view,
    ):
        fail_in_a_step(view)
    written: str = console.file.getvalue()  # type: ignore[attr-defined]
    assert "✗ the cluster starts" in written
    assert written.count("\x1b[?25l") == written.count("\x1b[?25h")


def test_a_sparkline_goes_from_zero_to_its_maximum() -> None:
    assert sparkline([0, 50, 100], 8) == "▁▅█"
    assert sparkline([0, 0], 8) == "▁▁"
    assert sparkline(range(100), 3) == "███"


def test_a_bar_never_leaves_its_width() -> None:
    assert [bar(value, 10, 5, "").plain.count("━") for value in (0, 1, 10, 99)] == [0, 1, 5, 5]


@settings(max_examples=30)
@example(value=-3.0, full=30.0, width=24)
@given(
    st.integers(-100, 10**6).map(lambda tenths: tenths / 10),
    st.sampled_from([0.0, 0.5, 10.0, 240.0]),
    st.integers(0, 40),
)
def test_a_bar_is_as_long_as_it_was_asked_for(value: float, full: float, width: int) -> None:
    drawn = bar(value, full, width, "green").plain
    assert len(drawn) == width
    assert drawn.count("━") == width or value < full or full == 0
    assert ("━" in drawn) == (value > 0 and full > 0 and width > 0)


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1e6), max_size=40), st.integers(1, 30))
def test_a_sparkline_is_highest_where_the_value_is(values: list[float], width: int) -> None:
    drawn, shown = sparkline(values, width), values[-width:]
    assert len(drawn) == len(shown)
    for one, first in zip(drawn, shown, strict=True):
        for other, second in zip(drawn, shown, strict=True):
            assert one <= other or first > second


def test_before_the_load_begins_the_clock_stands_at_zero() -> None:
    assert [clock(x) for x in (-2.6, 0.0, 59.9, 61.0, 3600.0)] == [
        "0:00",
        "0:00",
        "0:59",
        "1:01",
        "60:00",
    ]


def test_a_line_tells_a_change_with_its_time_and_its_reason(day_run: Run) -> None:
    dashboard = Dashboard(title="t", max_executors=8, slo_s=10.0)
    for record in day_run.records:
        change = dashboard.see(record, record.t_s - day_run.start_s, 240.0)
        if change:
            said = decision(change).plain
            assert f"{change.before} → {change.after}" in said
            assert said.endswith(change.reason)
            assert change.before != change.after == record.target
    assert dashboard.target == day_run.records[-1].target


def test_rows_are_told_whole_and_a_job_that_shows_no_size_with_a_dash() -> None:
    assert [rows(None), rows(1234.6), rows(0.0, "/s")] == ["-", "1,235", "0/s"]
    said = plain_line(replace(IDLE, observation=Observation(t_s=0, lag_rows=5.0)), 7.0, 60.0)
    assert said.startswith("0:07/1:00  executors -, - decided, in -, lag 5, latency -")


def test_another_run_begins_without_the_size_of_the_one_before(day_run: Run) -> None:
    console = Console(file=io.StringIO(), width=100)
    view = PlainView(console)
    first = next(record for record in day_run.records if record.target)
    view.show(replace(first, target=8), 0, 60)
    view.step("the next day")
    seen = first.observation
    assert seen
    begins = replace(first, target=1, observation=replace(seen, executors=1, target=1))
    view.show(begins, 0, 60)
    assert "-> 1 executors" not in console.file.getvalue()  # type: ignore[attr-defined]
