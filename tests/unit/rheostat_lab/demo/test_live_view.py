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


def rendered(run: Run, ticks: int, width: int = 100, height: int = 30) -> list[str]:
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
    decisions = [line.split()[0] for line in rendered(day_run, len(day_run.records)) if "→" in line]
    assert len(decisions) == 5
    assert decisions == sorted(decisions, reverse=True)


def test_the_last_tick_shows_wanted_allowed_and_decided_sizes(day_run: Run) -> None:
    record = day_run.records[0]
    assert record.raw is not None
    before = replace(record.raw, target=9, reason="lag is rising: 1399 rows/s need 9")
    held = GuardChange(
        guard="bounds", before=9, after=8, reason=f"{before.reason}; max executors is 8"
    )
    run = replace(day_run, records=[replace(record, raw=before, guards=(held,), target=8)])
    lines = [line.split(maxsplit=2) for line in rendered(run, 1)]
    assert [line for line in lines if line and line[0] in ("wanted", "allowed", "decided")] == [
        ["wanted", "9", "lag is rising: 1399 rows/s need 9"],
        ["allowed", "8", "bounds: max executors is 8"],
        ["decided", "8", "instead of 1"],
    ]


def test_pending_executors_are_shown_as_empty_boxes(day_run: Run) -> None:
    waiting = next(i for i, record in enumerate(day_run.records) if record.target == 2)
    line = next(line for line in rendered(day_run, waiting + 1) if line.startswith("executors"))
    assert line.split()[1:] == ["1", "→", "2", "■□······", "growing"]


@pytest.mark.parametrize(("width", "height"), [(60, 15), (30, 6), (10, 2), (200, 60)])
def test_the_view_fits_any_terminal(day_run: Run, width: int, height: int) -> None:
    lines = rendered(day_run, 50, width, height)
    assert 0 < len(lines) < height
    assert max(map(len, lines)) <= width


def test_unknown_values_are_shown_as_a_dash() -> None:
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


def test_without_a_terminal_the_view_prints_plain_lines(day_run: Run) -> None:
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


def test_plain_lines_are_printed_every_five_seconds_and_at_every_decision(day_run: Run) -> None:
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


def test_a_record_without_a_query_is_shown_as_text() -> None:
    view, out = plain()
    view.show(IDLE, 3, 240)
    assert out.getvalue() == "0:03/4:00  no query\n"


def test_the_screen_view_restores_the_terminal_and_keeps_steps_and_notes(day_run: Run) -> None:
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


def test_a_failed_step_is_marked_and_the_cursor_is_restored() -> None:
    console = terminal()
    with (
        pytest.raises(RuntimeError),
        ScreenView(Dashboard(title="t", max_executors=8, slo_s=10.0), console) as view,
    ):
        fail_in_a_step(view)
    written: str = console.file.getvalue()  # type: ignore[attr-defined]
    assert "✗ the cluster starts" in written
    assert written.count("\x1b[?25l") == written.count("\x1b[?25h")


def test_a_sparkline_ranges_from_zero_to_its_maximum() -> None:
    assert sparkline([0, 50, 100], 8) == "▁▅█"
    assert sparkline([0, 0], 8) == "▁▁"
    assert sparkline(range(100), 3) == "███"


def test_a_bar_never_exceeds_its_width() -> None:
    assert [bar(value, 10, 5, "").plain.count("━") for value in (0, 1, 10, 99)] == [0, 1, 5, 5]


@settings(max_examples=30)
@example(value=-3.0, full=30.0, width=24)
@given(
    st.integers(-100, 10**6).map(lambda tenths: tenths / 10),
    st.sampled_from([0.0, 0.5, 10.0, 240.0]),
    st.integers(0, 40),
)
def test_a_bar_has_the_requested_width(value: float, full: float, width: int) -> None:
    drawn = bar(value, full, width, "green").plain
    assert len(drawn) == width
    assert drawn.count("━") == width or value < full or full == 0
    assert ("━" in drawn) == (value > 0 and full > 0 and width > 0)


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1e6), max_size=40), st.integers(1, 30))
def test_a_sparkline_preserves_the_order_of_values(values: list[float], width: int) -> None:
    drawn, shown = sparkline(values, width), values[-width:]
    assert len(drawn) == len(shown)
    for one, first in zip(drawn, shown, strict=True):
        for other, second in zip(drawn, shown, strict=True):
            assert one <= other or first > second


def test_the_clock_shows_zero_before_the_load_begins() -> None:
    assert [clock(x) for x in (-2.6, 0.0, 59.9, 61.0, 3600.0)] == [
        "0:00",
        "0:00",
        "0:59",
        "1:01",
        "60:00",
    ]


def test_a_decision_line_contains_its_change_and_reason(day_run: Run) -> None:
    dashboard = Dashboard(title="t", max_executors=8, slo_s=10.0)
    for record in day_run.records:
        change = dashboard.see(record, record.t_s - day_run.start_s, 240.0)
        if change:
            text = decision(change).plain
            assert f"{change.before} → {change.after}" in text
            assert text.endswith(change.reason)
            assert change.before != change.after == record.target
    assert dashboard.target == day_run.records[-1].target


def test_rows_are_rounded_and_an_unknown_size_is_a_dash() -> None:
    assert [rows(None), rows(1234.6), rows(0.0, "/s")] == ["-", "1,235", "0/s"]
    line = plain_line(replace(IDLE, observation=Observation(t_s=0, lag_rows=5.0)), 7.0, 60.0)
    assert line.startswith("0:07/1:00  executors -, - decided, in -, lag 5, latency -")


def test_a_new_run_does_not_inherit_the_size_of_the_previous_one(day_run: Run) -> None:
    console = Console(file=io.StringIO(), width=100)
    view = PlainView(console)
    first = next(record for record in day_run.records if record.target)
    view.show(replace(first, target=8), 0, 60)
    view.step("the next day")
    rendered = first.observation
    assert rendered
    begins = replace(first, target=1, observation=replace(rendered, executors=1, target=1))
    view.show(begins, 0, 60)
    assert "-> 1 executors" not in console.file.getvalue()  # type: ignore[attr-defined]
