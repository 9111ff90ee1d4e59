import io
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from rheostat_lab.report.finished_run import Run
from rheostat_lab.report.result_text import (
    cells,
    columns,
    figures,
    findings,
    headline,
    miss_in_words,
    money,
    percent,
    printed,
    table,
)
from rheostat_lab.report.summary import Summary, summarize


@pytest.fixture(scope="module")
def met(day_run: Run) -> Summary:
    return summarize(day_run)


@pytest.fixture(scope="module")
def missed(late_run: Run) -> Summary:
    return summarize(late_run)


def on_a_terminal(summary: Summary, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(printed("t", summary))
    return out.getvalue()


def test_the_headline_states_savings_and_losses(met: Summary) -> None:
    assert headline("t", replace(met, slot_hours_saved_share=0.41)).startswith(
        "41 % fewer slot-hours than 8 executors"
    )
    assert headline("t", replace(met, slot_hours_saved_share=-0.05)).startswith(
        "5 % more slot-hours"
    )


def test_a_missed_objective_is_the_headline_without_a_saving(missed: Summary) -> None:
    assert headline("t", missed).startswith("Objective missed: ")
    assert "slot-hours" not in headline("t", missed)
    assert figures(missed)[0][0] == "Slot-hours"
    assert figures(missed)[0][2].endswith("no saving: the objective was missed")


def test_a_wrong_output_takes_precedence(missed: Summary) -> None:
    assert headline("t", replace(missed, exact=False)).startswith("Output not exact, ")


def test_a_run_without_results_has_its_title_as_headline(met: Summary) -> None:
    blank = replace(met, slot_hours_saved_share=None, share_within_slo=None, objective_met=None)
    assert headline("t", blank) == "t"
    assert findings(blank)[1].kept is None


def test_output_and_objective_have_marks_that_need_no_color(met: Summary, missed: Summary) -> None:
    assert [one.sign for one in findings(met)] == ["✓", "✓"]
    assert [one.sign for one in findings(missed)] == ["✓", "✗"]
    assert [one.sign for one in findings(replace(met, rows_in=None))] == ["?", "✓"]


def test_a_miss_is_one_sentence_with_times_and_causes(missed: Summary) -> None:
    text = miss_in_words(missed.misses[0], missed)
    assert text.startswith("From 22:15:58 to 22:16:")
    assert "rows waited longer than 10 s (at most " in text
    assert "): 3 executors running, 8 needed; new ones took 16 s to register" in text


def test_the_terminal_states_why_the_objective_was_missed(met: Summary, missed: Summary) -> None:
    assert "3 executors running, 8 needed" in " ".join(on_a_terminal(missed).split())
    assert "needed" not in on_a_terminal(met)


def test_a_share_below_one_is_never_shown_as_100_percent() -> None:
    assert (percent(1.0), percent(0.999999), percent(0.985)) == ("100 %", "99.99 %", "98.5 %")


def test_the_table_compares_the_run_with_the_fixed_sizes(met: Summary) -> None:
    assert [row.name for row in table(met)] == ["Rheostat", "fixed maximum", "fixed mean"]
    assert "\x1b" not in on_a_terminal(met)
    assert all(name in on_a_terminal(met) for name, _, _ in figures(met)[2:])


def test_a_price_adds_a_column_and_a_figure(met: Summary) -> None:
    priced = replace(met, price_per_slot_hour=100.0)
    assert (columns(met)[-1], columns(priced)[-1]) == ("Rescalings", "Price")
    assert [cells(row, priced)[-1] for row in table(priced)][1] == "53.3"
    assert figures(priced)[-1][0] == "Price of this run"
    assert "rescalings" in on_a_terminal(priced)
    assert len(figures(met)) == len(figures(priced)) - 1


def test_small_amounts_of_money_keep_significant_digits() -> None:
    assert [money(one) for one in (0.014149, 2.5, 1234.5)] == ["0.0141", "2.5", "1,234.50"]


@settings(max_examples=40)
@example(0.98996)
@example(0.29)
@example(0.9999999)
@given(st.floats(0, 1))
def test_a_share_is_never_rounded_up(share: float) -> None:
    shown = float(percent(share).removesuffix(" %"))
    assert shown <= share * 100 + 1e-4
    assert shown > share * 100 - 0.0101
    assert (shown == 100) == (share > 1 - 1e-9)
    assert not (share < 0.989999 and percent(share) == "99 %")


@pytest.mark.parametrize(("saved", "expected"), [(-0.001, "0 %"), (0.414, "41 %"), (-0.05, "-5 %")])
def test_a_saving_of_zero_has_no_sign(met: Summary, saved: float, expected: str) -> None:
    assert figures(replace(met, slot_hours_saved_share=saved))[0][1] == expected


@pytest.mark.parametrize(
    ("amount", "expected"),
    [(0.0, "0"), (0.5, "0.5"), (12.345, "12.3"), (99.96, "100"), (1234.5, "1,234.50")],
)
def test_an_amount_has_three_significant_digits(amount: float, expected: str) -> None:
    assert money(amount) == expected
