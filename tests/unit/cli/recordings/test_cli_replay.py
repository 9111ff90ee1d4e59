import json
from pathlib import Path

import pytest

from rheostat.cli.app import run
from rheostat.policies.parameters import parameters
from rheostat.policies.registry import create

RECORDING = "query-1_HPA_50"


@pytest.fixture
def short(tmp_path: Path) -> Path:
    path = tmp_path / "short.csv"
    path.write_text("t_s,executors,cpu\n0,4,0.9\n15,4,0.9\n30,4,0.2\n", encoding="utf-8")
    return path


def run_command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(arguments)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_json_output_is_one_object_per_decision_without_a_header(capsys):
    code, out, _ = run_command(
        capsys, "replay", RECORDING, "--policy", "measured-throughput", "--json"
    )
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert len(lines) == 561
    assert all(list(line) == ["t_s", "target", "reason", "evidence"] for line in lines)


def test_out_writes_the_same_lines_as_json(capsys, short, tmp_path):
    _, printed, _ = run_command(capsys, "replay", str(short), "--policy", "hpa", "--json")
    code, both, _ = run_command(
        capsys,
        "replay",
        str(short),
        "--policy",
        "hpa",
        "--json",
        "--out",
        str(tmp_path / "a.jsonl"),
    )
    assert code == 0
    assert (tmp_path / "a.jsonl").read_text(encoding="utf-8") == printed == both
    assert len(printed.splitlines()) == 3


def test_the_table_lists_requests_for_another_size(capsys, short):
    code, out, _ = run_command(capsys, "replay", str(short), "--policy", "hpa", "--max", "16")
    assert code == 0
    assert "0 s" in out
    assert "3 decisions, 2 of them for another size" in " ".join(out.split())


def test_parameters_limits_interval_and_initial_size_are_applied(capsys, short):
    options = (
        "--policy",
        "hpa",
        "--set",
        "metrics=cpu 0.3",
        "--max",
        "9",
        "--interval",
        "15",
        "--initial",
        "2",
        "--json",
    )
    code, out, _ = run_command(capsys, "replay", str(short), *options)
    assert code == 0
    assert [json.loads(line)["target"] for line in out.splitlines()] == [
        6,
        9,
        9,
    ]  # 2 x 0.9 / 0.3, then the ceiling, then the window


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("nowhere.csv",), "there is no recording nowhere.csv"),
        ((RECORDING, "--policy", "nope"), "unknown policy 'nope'"),
        (
            (RECORDING, "--set", "factor"),
            "a parameter is written name=value, such as factor=0.3, but this one is 'factor'",
        ),
        (
            (RECORDING, "--set", "factor=1", "--set", "factor=2"),
            "the parameter factor is set twice",
        ),
        ((RECORDING, "--set", "factor=-1"), "factor"),
        ((RECORDING, "--set", "nope=1"), "has no parameter 'nope'"),
        ((RECORDING, "--min", "5", "--max", "2"), "min executors (5) is above max executors (2)"),
        ((RECORDING, "--interval", "0"), "interval must be above 0"),
        (
            (RECORDING, "--initial", "0"),
            "initial number of executors must be within 1 and 1000, but it is 0",
        ),
        (
            (RECORDING, "--json", "--out", "/nowhere/a.jsonl"),
            "/nowhere/a.jsonl cannot be written: No such file",
        ),
    ],
)
def test_an_input_error_is_one_line_and_exit_code_2(capsys, arguments, expected):
    code, _, err = run_command(capsys, "replay", *arguments)
    assert code == 2
    assert expected in err
    assert len(err.splitlines()) == 1


def test_a_bad_row_is_named_and_no_file_is_written(capsys, short, tmp_path):
    short.write_text("t_s,executors,cpu\n0,4,0.9\n15,4,90\n", encoding="utf-8")
    code, out, err = run_command(
        capsys,
        "replay",
        str(short),
        "--policy",
        "hpa",
        "--json",
        "--out",
        str(tmp_path / "a.jsonl"),
    )
    assert (code, out) == (2, "")
    assert "short.csv, row 2 (line 3): cpu" in err
    assert [path.name for path in tmp_path.iterdir()] == ["short.csv"]


def test_policies_are_listed_and_described_with_their_parameters(capsys):
    code, out, _ = run_command(capsys, "policies")
    assert code == 0
    assert "measured-throughput" in out
    code, out, _ = run_command(capsys, "policies", "measured-throughput")
    assert code == 0
    assert all(title in out for title in ("formula", "source", "fails when", "parameter"))
    assert "lag_share" in out


@pytest.mark.parametrize("name", ["measured-throughput", "hpa"])
def test_every_parameter_in_the_json_output_accepts_its_default(capsys, name):
    _, out, _ = run_command(capsys, "policies", name, "--json")
    read = json.loads(out)
    assert {"name", "formula", "source", "fails_when", "parameters"} <= set(read)
    assert all(
        set(entry) == {"name", "default", "unit", "help"} and entry["unit"] and entry["help"]
        for entry in read["parameters"]
    )
    assert [entry["name"] for entry in read["parameters"]] == [
        field.name for field in parameters(type(create(name)))
    ]
    assert create(
        name, {entry["name"]: str(entry["default"]) for entry in read["parameters"]}
    ) == create(name)


def test_all_policies_as_json_are_a_list(capsys):
    code, out, _ = run_command(capsys, "policies", "--json")
    assert code == 0
    assert {"measured-throughput", "hpa"} <= {entry["name"] for entry in json.loads(out)}


def test_a_policy_without_metadata_is_described(capsys):
    code, out, _ = run_command(capsys, "policies", f"{__name__}:Bare")
    assert code == 0
    assert "It has no parameters." in out


def test_an_unknown_policy_is_reported_in_one_line(capsys):
    code, _, err = run_command(capsys, "policies", "nope")
    assert (code, len(err.splitlines())) == (2, 1)


class Bare:
    def decide(self, observation, memory):
        raise NotImplementedError


@pytest.mark.parametrize("name", ["", "folder"])
def test_a_place_without_a_recording_is_reported_in_one_line(capsys, monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    code, out, err = run_command(capsys, "replay", name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    expected = "there is no recording ''" if not name else "there is no journal in folder"
    assert expected in err


def test_a_single_decision_is_printed_in_the_singular(capsys, tmp_path):
    (tmp_path / "one.csv").write_text("t_s,executors\n0,2\n")
    assert run_command(capsys, "replay", str(tmp_path / "one.csv"))[1].startswith(
        "1 decision, 0 of them"
    )
