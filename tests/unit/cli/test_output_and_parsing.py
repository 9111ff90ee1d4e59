"""Small parts of commands: the output of a result, and the parsing of texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from rheostat.cli.options import pairs
from rheostat.cli.output import emit
from rheostat.cli.recordings.replay import show_decisions
from rheostat.errors import BadInput
from rheostat.model import Decision
from rheostat.replay.replayer import Decided
from rheostat_lab.commands.seed_means import mean_cell
from rheostat_lab.commands.simulate_demand_input import default_rates, plant_of, rates_of

RESULT = {"saved_share": 0.25, "why": "8 < 9"}


def shown() -> None:
    typer.echo("for people")


def test_a_result_is_printed_as_text_or_json_and_the_file_contains_the_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    emit(RESULT, False, None, shown)
    assert capsys.readouterr().out == "for people\n"
    emit(RESULT, True, tmp_path / "told.json", shown)
    printed = capsys.readouterr().out
    assert json.loads(printed) == RESULT
    assert (tmp_path / "told.json").read_text() == printed


def test_a_number_without_json_representation_is_rejected_before_writing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        emit({"late": float("nan")}, True, tmp_path / "told.json", shown)
    assert not (tmp_path / "told.json").exists()


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.integers(), max_size=5))
def test_parameters_survive_a_round_trip_through_text(given: dict[str, int]) -> None:
    assert pairs([f"{name} = {value}" for name, value in given.items()]) == {
        name: str(value) for name, value in given.items()
    }


def test_a_value_may_contain_an_equals_sign_but_names_are_unique() -> None:
    assert pairs(["metrics=cpu=0.5"]) == {"metrics": "cpu=0.5"}
    with pytest.raises(BadInput, match=r"factor is set twice: '1' and '2'"):
        pairs(["factor=1", "factor=2"])
    with pytest.raises(BadInput, match=r"name=value, such as factor=0.3, .* 'factor'"):
        pairs(["factor"])


@pytest.mark.parametrize(
    ("mean", "cell"),
    [
        (None, ""),
        ({"mean": 12_345.6, "low": 12_000.0, "high": 12_800.0}, "12,346 ± 400"),
        ({"mean": 0.12345, "low": 0.1, "high": 0.2}, "0.123 ± 0.05"),
    ],
)
def test_a_mean_is_shown_with_half_its_interval(mean: dict[str, float] | None, cell: str) -> None:
    assert mean_cell(mean) == cell


@given(st.integers(1, 500), st.integers(1, 50), st.integers(0, 40))
def test_loads_increase_in_equal_steps_up_to_the_last(first: int, step: int, more: int) -> None:
    rates = rates_of(f"{first}:{first + step * more}:{step}")
    assert rates == tuple(float(first + step * number) for number in range(more + 1))


@pytest.mark.parametrize("text", ["5", "1:2", "a:b:c", "0:5:1", "5:1:1", "1:5:0", "1:inf:1"])
def test_loads_that_do_not_increase_are_rejected(text: str) -> None:
    with pytest.raises(BadInput, match="loads"):
        rates_of(text)


def test_a_plant_is_validated_and_its_default_loads_end_near_its_capacity() -> None:
    with pytest.raises(BadInput, match="unknown plant 'storm'"):
        plant_of(None, "storm", {})
    with pytest.raises(BadInput, match="fitted with a Spark plant"):
        plant_of("a.csv", "flink", {})
    with pytest.raises(BadInput, match="rate_per_s of a Flink job must be a number"):
        plant_of(None, "flink", {"rate_per_s": "fast"})
    rates = default_rates(plant_of(None, "flink", {"rate_per_s": "1000"}), 4)
    assert len(rates) == 20
    assert rates[-1] == 4000.0


def decided(t_s: float, size: int | None, target: int, application: str = "a") -> Decided:
    return Decided(
        t_s=t_s,
        application=application,
        size=size,
        decision=Decision(target=target, reason="[load]"),
    )


def test_a_repeated_request_is_shown_once_but_the_summary_counts_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_decisions(
        [decided(0, 2, 2), decided(15, 2, 4), decided(30, 2, 4), decided(45, 4, 4)], False
    )
    out = " ".join(capsys.readouterr().out.split())
    assert out.count("[load]") == 1
    assert "15 s 2 4 [load]" in out
    assert "4 decisions, 2 of them for another size" in out
    assert "targets 2 to 4, 3.50 on average" in out
