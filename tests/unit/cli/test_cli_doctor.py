from __future__ import annotations

import json
from typing import Any

import pytest

from rheostat.cli.app import run


def findings(capsys: Any, *arguments: str) -> Any:
    assert run(["doctor", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)["findings"]


def test_the_state_partitions_of_a_checkpoint_are_examined(capsys, tmp_path):
    folder = tmp_path / "orders"
    (folder / "offsets").mkdir(parents=True)
    (folder / "state").mkdir()
    (folder / "offsets" / "3").write_text('v1\n{"conf": {"spark.sql.shuffle.partitions": "4"}}\n-')
    found = findings(capsys, "--checkpoint", str(folder), "--slots", "8")
    assert [each["line"] for each in found if each["topic"] == "state partitions of orders"] == [
        "4 cannot use 8 slots: 8 or more partitions would; the number is fixed in the checkpoint"
    ]


def test_a_setting_of_the_session_wins_over_spark_s_default(capsys):
    found = findings(capsys, "--conf", "spark.sql.shuffle.partitions=30")
    assert [
        each["state"] for each in found if each["topic"] == "state partitions of new queries"
    ] == ["good"]


def test_what_is_printed_as_json_can_be_written_too(capsys, tmp_path):
    found = findings(capsys, "--out", str(tmp_path / "doctor.json"))
    assert json.loads((tmp_path / "doctor.json").read_text()) == {"findings": found, "measured": []}


def test_for_people_each_advice_shows_what_to_set(capsys):
    assert run(["doctor"]) == 0
    shown = capsys.readouterr().out.splitlines()
    advice = next(
        i
        for i, line in enumerate(shown)
        if line.startswith("advice state partitions of new queries: 200")
    )
    assert shown[advice + 1].strip() == "spark.sql.shuffle.partitions=24"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--checkpoint", "/no"],
            (
                "/no is no checkpoint of a query that has started: it has no folder offsets with a"
                " batch in it"
            ),
        ),
        (
            ["--conf", "spark.sql.shuffle.partitions=many"],
            "spark.sql.shuffle.partitions must be a whole number from 1, but it is 'many'",
        ),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, said):
    assert run(["doctor", *arguments]) == 2
    assert capsys.readouterr().err == f"rheostat: {said}\n"
