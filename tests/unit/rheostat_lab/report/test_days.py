"""A run of two days, reported day by day."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rheostat_lab.report.days import day_starts_s, days_of, ramps
from rheostat_lab.report.finished_run import Run
from rheostat_lab.report.plot_theme import LIGHT, WIDE
from rheostat_lab.report.result_text import days
from rheostat_lab.report.run_plot import figure
from rheostat_lab.report.sizes_over_time import paid
from rheostat_lab.report.summary import summarize, to_json


@pytest.fixture(scope="module")
def two_days(day_run: Run) -> Run:
    """Return the synthetic run as two days of two minutes."""
    return replace(day_run, day_s=120.0)


def test_days_divide_the_run_without_gap_or_overlap(two_days):
    first, second = days_of(two_days)
    assert (first.start_s, first.end_s) == (two_days.start_s, two_days.start_s + 120)
    assert (second.start_s, second.end_s) == (first.end_s, two_days.end_s)
    assert len(first.records) + len(second.records) == len(two_days.records)
    assert paid(first).integral_s + paid(second).integral_s == pytest.approx(
        paid(two_days).integral_s
    )


def test_only_the_first_day_has_a_warm_up(two_days):
    assert [day.warm_up_s for day in days_of(two_days)] == [10.0, 0.0]


def test_every_batch_belongs_to_a_day_and_every_row_counts_once(two_days):
    first, second = days_of(two_days)
    both = [batch for batch in first.batches if batch in second.batches]
    assert len(first.batches) + len(second.batches) - len(both) == len(two_days.batches)
    assert len(both) <= 1


def test_every_day_has_its_ramp(two_days):
    at_s = [ramp.start_s - two_days.start_s for ramp in ramps(two_days)]
    assert at_s[1] - at_s[0] == pytest.approx(120.0)
    assert ramps(replace(two_days, ramp=None)) == []


def test_the_summary_contains_the_figures_of_both_days(two_days):
    summary = summarize(two_days)
    assert len(summary.days) == 2
    assert sum(day.slot_hours for day in summary.days) == pytest.approx(summary.slot_hours)
    names = [row.name for row in days(summary)]
    assert names[0].startswith("day 1: ")
    assert names[1].endswith("of rows in time")
    assert len(to_json(summary)["days"]) == 2


def test_a_run_of_one_day_has_no_separate_days(day_run):
    assert summarize(day_run).days == ()
    assert days(summarize(day_run)) == ()
    assert day_starts_s(day_run) == [day_run.start_s]


def test_the_plot_marks_the_start_of_the_second_day(two_days, day_run):
    lines = [len(figure(run, LIGHT, WIDE).axes[0].lines) for run in (two_days, day_run)]
    assert lines[0] > lines[1]
