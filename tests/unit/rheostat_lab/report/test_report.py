import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as settings_of
from hypothesis import strategies as st

from rheostat.cli.explain import _of_date
from rheostat_lab.report.finished_run import Run, Verdict
from rheostat_lab.report.report import _explain, html, overhead, settings, write_report
from rheostat_lab.report.summary import summarize


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


def addresses(page: str) -> list[str]:
    parser = Addresses()
    parser.feed(page)
    return parser.found


def test_the_report_refers_to_nothing_outside(page: str) -> None:
    assert len(addresses(page)) == 4
    assert all(one.startswith("data:image/svg+xml;base64,") for one in addresses(page))
    assert "@import" not in page
    assert "url(" not in page


def test_texts_are_escaped(page: str) -> None:
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_the_report_tells_every_rescaling_with_its_reason(page: str, day_run: Run) -> None:
    changes = re.findall(r'class="change[^>]*>(\d+) → (\d+)</td>', page)
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
        assert said in html(run, summarize(run), ())


def test_a_run_in_which_nothing_happened_has_a_report(day_run: Run, tmp_path: Path) -> None:
    run = replace(
        day_run, records=(), batches=(), ramp=None, overhead=None, verdict=None, versions={}
    )
    write_report(run, summarize(run), tmp_path / "report.html")
    assert "The size never changed." in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_missed_objective_is_said_in_the_headline_in_a_finding_and_with_its_reason(
    late_run: Run,
) -> None:
    page = html(late_run, summarize(late_run), ()).replace("\u00a0", "&nbsp;")
    assert re.search(r'<h1 class="bad">Objective missed: [\d.]+&nbsp;% of rows within 10 s', page)
    assert re.search(
        r'class="finding bad"><b aria-hidden="true">✗</b> <b>Objective missed</b>', page
    )
    assert re.search(r'class="finding good"><b aria-hidden="true">✓</b> <b>Output exact</b>', page)
    assert "<li>3 executors stood, 8 were needed</li>" in page
    assert "<li>new ones took 16 s to come</li>" in page
    assert "Decision in force when it began" in page


def test_a_run_that_kept_its_promises_has_no_alarm(page: str) -> None:
    assert 'class="finding bad"' not in page
    assert "Why the objective was missed" not in page
    assert "✓</b> <b>Objective met</b>" in page


def test_the_report_leads_to_the_journal_and_to_the_command_that_explains_it(
    late_run: Run, tmp_path: Path
) -> None:
    run = replace(late_run, journal=tmp_path / "my run" / "journal")
    write_report(run, summarize(run), tmp_path / "my run" / "report.html")
    page = (tmp_path / "my run" / "report.html").read_text(encoding="utf-8")
    assert [one for one in addresses(page) if not one.startswith("data:")] == ["journal"]
    assert "rheostat explain &#39;" in page
    assert "--at 2023-11-14T22:15:" in page


@settings_of(max_examples=30)
@given(st.floats(1.6e9, 2e9))
def test_the_command_names_a_moment_from_which_on_the_decision_is_in_force(
    day_run: Run, t_s: float
) -> None:
    """A decision of the same second must not be cut off."""
    command = _explain(replace(day_run, journal=Path("my run")), t_s)
    assert command.startswith("rheostat explain 'my run' --at ")
    named_s = _of_date(command.split()[-1])
    assert t_s <= named_s <= t_s + 0.0011


def test_the_report_shows_the_parts_of_the_batches_and_of_the_overhead(late_run: Run) -> None:
    page = html(late_run, summarize(late_run), ())
    assert all(f'<th scope="row">{part}</th>' in page for part in ("addBatch", "walCommit", "rest"))
    assert all(f'<th scope="row">{part}</th>' in page for part in ("loop", "REST", "py4j"))


def test_the_dearest_part_of_the_autoscaler_comes_first(day_run: Run) -> None:
    assert [name for name, *_ in overhead(day_run)] == ["loop", "REST", "py4j"]


def test_a_busy_computer_is_told_apart_from_a_bad_run(late_run: Run) -> None:
    busy = replace(late_run, machine=[replace(one, cpu=0.97) for one in late_run.machine])
    assert "Busy computer" in html(busy, summarize(busy), ())
    assert "Busy computer" not in html(late_run, summarize(late_run), ())


def test_money_is_shown_only_on_request(late_run: Run) -> None:
    priced = replace(late_run, price_per_slot_hour=0.05)
    assert "Price" not in html(late_run, summarize(late_run), ())
    assert "Price of this run" in html(priced, summarize(priced), ())


def test_the_report_says_where_sparks_own_log_is(late_run: Run) -> None:
    run = replace(late_run, driver_log=Path("out/demo/driver.log"))
    assert settings(run)["Spark's own log"] == "out/demo/driver.log"
    assert "Spark's own log" not in settings(late_run)
