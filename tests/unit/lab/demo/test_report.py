import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from rheostat.lab.demo.finished_run import Run, Verdict
from rheostat.lab.demo.report import html, write_report
from rheostat.lab.demo.result_text import figures, headline, percent, printed, table
from rheostat.lab.demo.run_plot import LIGHT, draw_png, svg
from rheostat.lab.demo.summary import summarize


@pytest.fixture(scope="module")
def page(day_run: Run, tmp_path_factory: pytest.TempPathFactory) -> str:
    run = replace(day_run, title="<script>alert(1)</script>", service_ms=2.0)
    path = tmp_path_factory.mktemp("report") / "new" / "report.html"
    write_report(run, summarize(run), path)
    return path.read_text(encoding="utf-8")


class Addresses(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [
            value or ""
            for name, value in attrs
            if name in ("src", "href", "srcset", "action", "data")
        ]


def test_the_report_refers_to_nothing_outside(page: str) -> None:
    parser = Addresses()
    parser.feed(page)
    assert len(parser.found) == 2
    assert all(address.startswith("data:image/svg+xml;base64,") for address in parser.found)
    assert "@import" not in page
    assert "url(" not in page


def test_texts_are_escaped(page: str) -> None:
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_the_report_tells_every_rescaling_with_its_reason(page: str, day_run: Run) -> None:
    changes = re.findall(r'class="change[^"]*">(\d+) → (\d+)</td>', page)
    assert len(changes) == summarize(day_run).rescalings > 5
    assert page.count("rows/s an executor need") == len(changes)


def test_the_report_says_what_the_service_time_stands_for(page: str) -> None:
    assert "a wait that stands for a call to an outside system" in page
    assert "at most 500 rows/s" in page


def test_the_report_says_when_the_output_is_wrong_or_was_not_checked(day_run: Run) -> None:
    wrong = replace(day_run, verdict=Verdict(False, 10, 9, 1, 0, 0, "bids: 1 missing"))
    for run, said in (
        (wrong, "Output not exact"),
        (replace(day_run, verdict=None), "Output not verified"),
    ):
        assert said in html(run, summarize(run), b"", b"")


def test_a_run_in_which_nothing_happened_has_a_report(day_run: Run, tmp_path: Path) -> None:
    run = replace(
        day_run, records=(), batches=(), ramp=None, overhead=None, verdict=None, versions={}
    )
    write_report(run, summarize(run), tmp_path / "report.html")
    assert "The size never changed." in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_plot_is_a_png_of_its_size(day_run: Run, tmp_path: Path) -> None:
    draw_png(day_run, summarize(day_run), tmp_path / "out" / "plot.png")
    head = (tmp_path / "out" / "plot.png").read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")) == (1650, 1275)


def test_the_same_run_gives_the_same_picture(day_run: Run) -> None:
    assert svg(day_run, summarize(day_run), LIGHT) == svg(day_run, summarize(day_run), LIGHT)


def test_the_headline_states_a_loss_too(day_run: Run) -> None:
    summary = summarize(day_run)
    assert headline("t", replace(summary, slot_hours_saved_share=0.41)).startswith(
        "41 % fewer slot-hours than 8 executors"
    )
    assert headline("t", replace(summary, slot_hours_saved_share=-0.05)).startswith(
        "5 % more slot-hours"
    )


def test_a_share_below_one_is_never_said_to_be_all() -> None:
    assert (percent(1.0), percent(0.999999), percent(0.985)) == ("100 %", "99.99 %", "98.5 %")


def test_the_table_puts_this_run_beside_the_fixed_sizes(day_run: Run) -> None:
    summary = summarize(day_run)
    assert [row.name for row in table(summary)] == ["Rheostat", "fixed maximum", "fixed mean"]
    console = Console(file=io.StringIO(), width=80)
    console.print(printed("t", summary))
    assert "\x1b" not in console.file.getvalue()  # type: ignore[attr-defined]
    assert all(name in console.file.getvalue() for name, _, _ in figures(summary)[2:])  # type: ignore[attr-defined]
