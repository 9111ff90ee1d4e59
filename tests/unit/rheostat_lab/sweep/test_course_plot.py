"""A run as a picture: its contents, and the check that it is up to date."""

from __future__ import annotations

import dataclasses
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from rheostat_lab.comparison.spark_comparison import plain_cell
from rheostat_lab.sweep.course_plot import SAMPLE_S, Course, course, digest_in
from rheostat_lab.sweep.runner import play


@pytest.fixture(scope="module")
def shown() -> Course:
    return course(plain_cell("measured-throughput"))


def test_a_course_contains_load_sizes_and_latencies_of_the_run(shown: Course) -> None:
    cell = plain_cell("measured-throughput")
    ledger = play(cell).ledger
    assert (
        len(shown.rate_per_s) == len(shown.executors) == len(shown.latency_s) == 140 * 60 / SAMPLE_S
    )
    assert shown.executors[0] == 8
    assert shown.rate_per_s[10] == round(cell.workload.rate_per_s(300.0))
    arrived_s = ledger.commit_s - ledger.latency_s
    early = (arrived_s >= 600) & (arrived_s < 630)
    mean_s = (ledger.latency_s * ledger.rows)[early].sum() / ledger.rows[early].sum()
    assert shown.latency_s[20] == pytest.approx(mean_s, abs=0.051)


def test_equal_runs_have_equal_digests_and_others_differ(shown: Course) -> None:
    assert course(plain_cell("measured-throughput")).digest == shown.digest
    assert course(plain_cell("measured-throughput", seed=1)).digest != shown.digest
    later = dataclasses.replace(shown, latency_s=(*shown.latency_s[:-1], 29.9))
    assert later.digest != shown.digest


def test_a_plot_contains_its_digest_and_is_reproducible(shown: Course, tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "shown.svg", tmp_path / "b" / "shown.svg"
    for path in (first, second):
        path.parent.mkdir()
        shown.draw(path)
    assert digest_in(first) == shown.digest
    assert first.read_bytes() == second.read_bytes()


def test_a_missing_or_foreign_plot_has_no_digest(tmp_path: Path) -> None:
    assert digest_in(tmp_path / "none.svg") is None
    (tmp_path / "other.svg").write_text("<svg></svg>")
    assert digest_in(tmp_path / "other.svg") is None


def test_rows_waiting_at_the_end_have_no_latency(shown: Course) -> None:
    assert None not in shown.latency_s[:-1]
    behind = course(plain_cell("ds2"))
    assert behind.latency_s[0] is not None
    assert behind.latency_s[-1] is None


def texts(course_: Course) -> list[tuple[str, Any]]:
    """Return every text in the picture of a run with its bounding box."""
    drawn = course_.figure("a-policy")
    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    hidden = {
        tick.label1
        for panel in drawn.axes
        for axis in (panel.xaxis, panel.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        if not axis.get_view_interval()[0] <= tick.get_loc() <= axis.get_view_interval()[1]
    }
    return [
        (text.get_text(), text.get_window_extent(canvas.get_renderer()))
        for text in drawn.findobj(Text)
        if text.get_visible() and text.get_text() and text not in hidden
    ]


def test_no_text_of_a_plot_overlaps_another(shown: Course) -> None:
    for run in (shown, course(plain_cell("ds2"))):
        pairs = combinations(texts(run), 2)
        assert [(one, other) for (one, a), (other, b) in pairs if a.overlaps(b.padded(-1))] == []


def test_a_plot_has_titles_units_plain_numbers_and_hours(shown: Course) -> None:
    many = dataclasses.replace(shown, rate_per_s=tuple(rate * 1000 for rate in shown.rate_per_s))
    labels = [text for text, _ in texts(many)]
    assert {"a-policy", "Load", "Executors", "Latency", "rows per second"} <= set(labels)
    assert {"0:00", "1:20", "1,000", "45,000,000"} <= set(labels)
    assert not [text for text in labels if "1e" in text or "mathdefault" in text]
