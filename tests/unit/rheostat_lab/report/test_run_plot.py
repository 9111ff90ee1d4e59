from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from rheostat.model import Decision, Record
from rheostat_lab.report.finished_run import Run
from rheostat_lab.report.plot_theme import LIGHT, WIDE
from rheostat_lab.report.run_plot import clock, draw_png, figure, shown
from rheostat_lab.report.summary import summarize


def forecast(record: Record) -> Record:
    rates = {f"forecast_rows_per_s_p{q}": 10.0 * q for q in (50, 90, 99)}
    return replace(record, raw=Decision(target=1, reason="", evidence=rates))


def letters(drawn: Figure) -> Iterator[tuple[str, Any]]:
    """Yield every text in a picture with its bounding box."""
    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    beyond = {
        text
        for panel in drawn.axes
        for axis in (panel.xaxis, panel.yaxis)
        for text in out_of_view(axis)
    }
    for text in drawn.findobj(Text):
        if text.get_visible() and text.get_text() and text not in beyond:
            yield text.get_text(), text.get_window_extent(canvas.get_renderer())


def out_of_view(axis: Any) -> Iterator[Text]:
    low, high = axis.get_view_interval()
    for tick in axis.get_major_ticks():
        if not low <= tick.get_loc() <= high:
            yield tick.label1


@pytest.mark.parametrize("made", ["late", "day", "forecast"])
def test_no_text_overlaps_another_or_exceeds_the_plot(
    late_run: Run, day_run: Run, made: str
) -> None:
    run = day_run if made == "day" else late_run
    if made == "forecast":
        run = replace(run, records=[forecast(record) for record in run.records])
    drawn = figure(run, LIGHT, WIDE, "a title that is so long that it has to be " * 3)
    texts = list(letters(drawn))
    cut = [text for text, box in texts if box.x0 < 0 or box.x1 > drawn.bbox.x1 or box.y0 < 0]
    clash = [
        (one, other) for (one, a), (other, b) in combinations(texts, 2) if a.overlaps(b.padded(-1))
    ]
    assert (cut, clash) == ([], [])


def test_panels_are_shown_for_known_signals(day_run: Run, late_run: Run) -> None:
    known = ["Load", "Executors", "Latency of rows", "Lag"]
    assert [panel.title for panel in shown(day_run)] == known
    assert [panel.title for panel in shown(late_run)] == [*known, "Batch", "This computer"]


def test_the_forecast_is_plotted_if_the_evidence_contains_one(day_run: Run) -> None:
    run = replace(day_run, records=[forecast(record) for record in day_run.records])
    assert "forecast, 90 %" in dict(letters(figure(run, LIGHT, WIDE)))
    assert "forecast, 90 %" not in dict(letters(figure(day_run, LIGHT, WIDE)))


def test_the_objective_is_labelled_at_its_line(day_run: Run) -> None:
    assert "objective 10 s" in dict(letters(figure(day_run, LIGHT, WIDE)))


def test_the_axes_have_plain_numbers(late_run: Run) -> None:
    many = replace(
        late_run,
        curve=[(t, rows * 1000) for t, rows in late_run.curve],
        batches=[replace(b, end_row=b.end_row * 1000) for b in late_run.batches],
    )
    texts = [text for text, _ in letters(figure(many, LIGHT, WIDE))]
    assert not [text for text in texts if "1e" in text]


def test_a_run_without_activity_has_a_plot(day_run: Run) -> None:
    empty = replace(day_run, records=(), batches=(), executors=(), ramp=None)
    assert figure(empty, LIGHT, WIDE).axes


def test_the_plot_is_a_png_of_the_expected_width(day_run: Run, tmp_path: Path) -> None:
    draw_png(day_run, summarize(day_run), tmp_path / "out" / "plot.png")
    head = (tmp_path / "out" / "plot.png").read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(head[16:20], "big") == 1350


def test_the_clock_shows_hours_only_if_needed() -> None:
    assert [clock(s) for s in (0, 65, 600, 3600, 3725)] == [
        "0:00",
        "1:05",
        "10:00",
        "1:00:00",
        "1:02:05",
    ]
