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


def test_the_headline_states_a_loss_too(met: Summary) -> None:
    assert headline("t", replace(met, slot_hours_saved_share=0.41)).startswith(
        "41 % fewer slot-hours than 8 executors"
    )
    assert headline("t", replace(met, slot_hours_saved_share=-0.05)).startswith(
        "5 % more slot-hours"
    )


def test_a_missed_objective_is_the_headline_and_no_saving_is_claimed(missed: Summary) -> None:
    assert headline("t", missed).startswith("Objective missed: ")
    assert "slot-hours" not in headline("t", missed)
    assert figures(missed)[0][0] == "Slot-hours"
    assert figures(missed)[0][2].endswith("no saving: the objective was missed")


def test_a_wrong_output_comes_before_everything_else(missed: Summary) -> None:
    assert headline("t", replace(missed, exact=False)).startswith("Output not exact, ")


def test_a_run_of_which_nothing_is_known_has_its_title_as_headline(met: Summary) -> None:
    blank = replace(met, slot_hours_saved_share=None, share_within_slo=None, objective_met=None)
    assert headline("t", blank) == "t"
    assert findings(blank)[1].kept is None


def test_output_and_objective_are_said_with_marks_that_need_no_colour(
    met: Summary, missed: Summary
) -> None:
    assert [one.sign for one in findings(met)] == ["✓", "✓"]
    assert [one.sign for one in findings(missed)] == ["✓", "✗"]
    assert [one.sign for one in findings(replace(met, rows_in=None))] == ["?", "✓"]


def test_a_miss_is_one_sentence_with_its_times_and_its_causes(missed: Summary) -> None:
    said = miss_in_words(missed.misses[0], missed)
    assert said.startswith("From 22:15:58 to 22:16:")
    assert "rows waited longer than 10 s (at most " in said
    assert "): 3 executors stood, 8 were needed; new ones took 16 s to come" in said


def test_the_terminal_says_why_the_objective_was_missed(met: Summary, missed: Summary) -> None:
    assert "3 executors stood, 8 were needed" in " ".join(on_a_terminal(missed).split())
    assert "stood" not in on_a_terminal(met)


def test_a_share_below_one_is_never_said_to_be_all() -> None:
    assert (percent(1.0), percent(0.999999), percent(0.985)) == ("100 %", "99.99 %", "98.5 %")


def test_the_table_puts_this_run_beside_the_fixed_sizes(met: Summary) -> None:
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


def test_small_amounts_of_money_keep_their_digits() -> None:
    assert [money(one) for one in (0.014149, 2.5, 1234.5)] == ["0.0141", "2.5", "1,234.50"]


@settings(max_examples=40)
@example(0.98996)
@example(0.29)
@example(0.9999999)
@given(st.floats(0, 1))
def test_a_share_is_never_said_to_be_more_than_it_is(share: float) -> None:
    said = float(percent(share).removesuffix(" %"))
    assert said <= share * 100 + 1e-4
    assert said > share * 100 - 0.0101
    assert (said == 100) == (share > 1 - 1e-9)
    assert not (share < 0.989999 and percent(share) == "99 %")


@pytest.mark.parametrize(("saved", "said"), [(-0.001, "0 %"), (0.414, "41 %"), (-0.05, "-5 %")])
def test_a_saving_of_nothing_has_no_sign(met: Summary, saved: float, said: str) -> None:
    assert figures(replace(met, slot_hours_saved_share=saved))[0][1] == said


@pytest.mark.parametrize(
    ("amount", "said"),
    [(0.0, "0"), (0.5, "0.5"), (12.345, "12.3"), (99.96, "100"), (1234.5, "1,234.50")],
)
def test_an_amount_has_three_digits_that_say_something(amount: float, said: str) -> None:
    assert money(amount) == said
