"""The report of a run: the frozen page with the additional data of a finished run."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import settings as settings_of
from hypothesis import strategies as st

from rheostat.cli.explain import _of_date
from rheostat_lab.report.finished_run import Run, Verdict
from rheostat_lab.report.report import _explain, html, overhead, settings, write_report
from rheostat_lab.report.summary import summarize


def frozen(page: str) -> dict[str, Any]:
    """Return the data in a page."""
    match = re.search(r'<script type="application/json" id="frozen">(.*?)</script>', page)
    assert match
    return dict(json.loads(match[1]))


def data(run: Run) -> dict[str, Any]:
    return frozen(html(run, summarize(run)))


def section(page: dict[str, Any], title: str) -> dict[str, Any]:
    return next(one for one in page["sections"] if one["title"].startswith(title))


def test_the_report_is_self_contained_and_escapes_text(day_run: Run, tmp_path: Path) -> None:
    run = replace(day_run, title="</script><script>alert(1)</script>")
    write_report(run, summarize(run), tmp_path / "new" / "report.html")
    page = (tmp_path / "new" / "report.html").read_text(encoding="utf-8")
    assert not re.search(r'(?:src|href)="(?:https?:)?//|@import|url\(', page)
    assert "</script><script>alert" not in page
    assert frozen(page)["overview"]["name"].startswith("</script><script>alert(1)")
    assert len(page) < 1_000_000


def test_the_report_lists_every_rescale_with_its_reason_and_record(day_run: Run) -> None:
    page = data(day_run)
    changes = [entry for entry in page["decisions"] if entry["kind"] == "change"]
    assert len(changes) == summarize(day_run).rescalings > 5
    assert {entry["t_s"] for entry in changes} <= {record["t_s"] for record in page["records"]}
    assert all("rows/s an executor need" in entry["reason"] for entry in changes)


def test_the_report_explains_the_service_time(day_run: Run) -> None:
    rows = dict(section(data(replace(day_run, service_ms=2.0)), "Settings")["rows"])
    assert "a wait that stands for a call to an outside system" in rows["Service time"]
    assert "at most 500 rows/s" in rows["Capacity of a slot"]


def test_an_inexact_or_unverified_output_is_the_headline(day_run: Run) -> None:
    wrong = replace(day_run, verdict=Verdict(False, 10, 9, 1, 0, 0, "bids: 1 missing"))
    for run, word, tone in (
        (wrong, "Output not exact", "Late"),
        (replace(day_run, verdict=None), "Output not verified", "Bound"),
    ):
        health = data(run)["overview"]["health"]
        assert (health["word"], health["tone"]) == (word, tone)


def test_a_run_without_activity_has_a_report(day_run: Run) -> None:
    run = replace(
        day_run, records=(), batches=(), ramp=None, overhead=None, verdict=None, versions={}
    )
    page = data(run)
    assert page["series"]["t"] == []
    assert [entry["kind"] for entry in page["decisions"]] == ["start"]


def test_a_missed_objective_is_the_headline_with_its_reasons(late_run: Run) -> None:
    page = data(late_run)
    health = page["overview"]["health"]
    assert (health["word"], health["tone"]) == ("Objective missed", "Late")
    assert re.match(r"Objective missed: [\d.]+ % of rows within 10 s", health["sentence"])
    assert section(page, "Objective missed")["tone"] == "bad"
    assert section(page, "Output exact")["tone"] == "good"
    late = section(page, "Late rows from")["text"]
    assert "3 executors running, 8 needed" in late
    assert "new ones took 16 s to register" in late
    assert "Decision in force: " in late


def test_a_run_that_met_its_objective_has_no_alarm(day_run: Run) -> None:
    page = data(day_run)
    assert page["overview"]["health"]["word"] == "Objective met"
    assert "bad" not in {one.get("tone") for one in page["sections"]}


def test_the_report_names_the_command_that_explains_it(late_run: Run) -> None:
    page = data(replace(late_run, journal=Path("my run") / "journal"))
    assert "rheostat explain 'my run/journal'" in page["overview"]["health"]["action"]


@settings_of(max_examples=30)
@given(st.floats(1.6e9, 2e9))
def test_the_command_names_a_time_at_which_the_decision_is_in_force(
    day_run: Run, t_s: float
) -> None:
    """A decision of the same second must not be excluded."""
    command = _explain(replace(day_run, journal=Path("my run")), t_s)
    assert command.startswith("rheostat explain 'my run' --at ")
    named_s = _of_date(command.split()[-1])
    assert t_s <= named_s <= t_s + 0.0011


def test_the_report_shows_batch_parts_and_overhead(late_run: Run) -> None:
    page = data(late_run)
    batches = [row[0] for row in section(page, "What the batches")["rows"]]
    assert {"addBatch", "walCommit", "rest"} <= {*batches}
    costs = [row[0] for row in section(page, "What the autoscaler cost")["rows"]]
    assert costs == ["loop", "REST", "py4j"]


def test_the_most_expensive_overhead_comes_first(day_run: Run) -> None:
    assert [name for name, *_ in overhead(day_run)] == ["loop", "REST", "py4j"]


def test_a_busy_computer_is_reported_separately_from_a_missed_objective(late_run: Run) -> None:
    busy = replace(late_run, machine=[replace(one, cpu=0.97) for one in late_run.machine])
    titles = [[one["title"] for one in data(run)["sections"]] for run in (busy, late_run)]
    assert ["Busy computer." in those for those in titles] == [True, False]


def test_money_is_shown_only_on_request(late_run: Run) -> None:
    priced = data(replace(late_run, price_per_slot_hour=0.05))
    assert "Price" in section(priced, "This run compared")["columns"]
    assert "Price" not in section(data(late_run), "This run compared")["columns"]


def test_the_report_names_the_location_of_sparks_log(late_run: Run) -> None:
    run = replace(late_run, driver_log=Path("out/demo/driver.log"))
    assert settings(run)["Spark's own log"] == "out/demo/driver.log"
    assert "Spark's own log" not in settings(late_run)
