from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from rheostat.cli.app import run
from rheostat.journal.folder import FolderJournal
from rheostat.model import Observation, Record, Rescaling, Stage


def findings(capsys: Any, *arguments: str) -> Any:
    assert run(["doctor", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)["findings"]


def test_the_state_partitions_of_a_checkpoint_are_examined(capsys, tmp_path):
    folder = tmp_path / "orders"
    (folder / "offsets").mkdir(parents=True)
    (folder / "state").mkdir()
    (folder / "offsets" / "3").write_text('v1\n{"conf": {"spark.sql.shuffle.partitions": "4"}}\n-')
    rows = findings(capsys, "--checkpoint", str(folder), "--slots", "8")
    assert [
        finding["line"] for finding in rows if finding["topic"] == "state partitions of orders"
    ] == [
        f"4 cannot use 8 slots: 8 or more partitions would; rheostat state repartition {folder}"
        " --partitions 8 changes it while the query is stopped"
    ]


def test_a_session_setting_overrides_sparks_default(capsys):
    rows = findings(capsys, "--conf", "spark.sql.shuffle.partitions=30")
    assert [
        finding["state"]
        for finding in rows
        if finding["topic"] == "state partitions of new queries"
    ] == ["good"]


def test_the_json_output_can_be_written_to_a_file(capsys, tmp_path):
    rows = findings(capsys, "--out", str(tmp_path / "doctor.json"))
    assert json.loads((tmp_path / "doctor.json").read_text()) == {"findings": rows, "measured": []}


def test_the_text_output_names_the_setting_for_every_advice(capsys):
    assert run(["doctor"]) == 0
    shown = capsys.readouterr().out.splitlines()
    advice = next(
        i
        for i, line in enumerate(shown)
        if line.startswith("advice state partitions of new queries: 200")
    )
    assert shown[advice + 1].strip() == "spark.sql.shuffle.partitions=24"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--checkpoint", "/no"],
            (
                "/no is not the checkpoint of a started query: it has no folder offsets with a"
                " batch in it"
            ),
        ),
        (
            ["--conf", "spark.sql.shuffle.partitions=many"],
            "spark.sql.shuffle.partitions must be a whole number from 1, but it is 'many'",
        ),
    ],
)
def test_bad_input_is_reported_in_one_line(capsys, arguments, message):
    assert run(["doctor", *arguments]) == 2
    assert capsys.readouterr().err == f"rheostat: {message}\n"


def written_journal(folder: Path, tasks: int) -> Path:
    """Write a journal of a query whose only stage has ``tasks`` tasks, on four slots."""
    journal = FolderJournal(folder)
    for n in range(20):
        rows = 1000 + 500 * (n % 4)
        busy_s = 0.001 * rows
        stage = Stage(
            name="count",
            rows_in=float(rows),
            busy_s=busy_s,
            tasks=tasks,
            task_max_s=busy_s / tasks,
        )
        observation = Observation(
            t_s=5.0 * n,
            query="orders",
            executors=4,
            slots_per_executor=1,
            batch_s=0.2 + busy_s * math.ceil(tasks / 4) / tasks,
            batch_rows=rows,
            stages=(stage,),
        )
        journal.append(
            Record(
                t_s=5.0 * n,
                observation=observation,
                queries=(observation,),
                raw=None,
                guards=(),
                target=4,
                actions=(),
                rescaling=Rescaling(phase="steady"),
            ),
            {},
        )
    journal.close()
    return folder


def test_a_journal_shows_that_more_executors_will_not_help_and_why(capsys, tmp_path):
    folder = written_journal(tmp_path / "journal", tasks=4)
    assert run(["doctor", "--json", "--journal", str(folder)]) == 0
    result = json.loads(capsys.readouterr().out)
    (bottleneck,) = result["bindings"]
    assert (bottleneck["query"], bottleneck["kind"]) == ("orders", "partitions")
    assert bottleneck["line"].startswith("more executors will not help, because its 4 tasks")
    assert result["findings"][-1]["topic"] == "what binds orders"
    assert result["findings"][-1]["state"] == "advice"


def test_a_journal_shows_that_more_executors_help(capsys, tmp_path):
    folder = written_journal(tmp_path / "journal", tasks=40)
    assert run(["doctor", "--journal", str(folder)]) == 0
    assert (
        "what binds orders: more executors help: 5 instead of 4 executors"
        in capsys.readouterr().out
    )


def test_a_journal_without_batches_is_reported_in_one_line(capsys, tmp_path):
    journal = FolderJournal(tmp_path / "journal")
    nothing = Record(
        t_s=0.0,
        observation=None,
        queries=(),
        raw=None,
        guards=(),
        target=None,
        actions=(),
        rescaling=Rescaling(phase="idle"),
    )
    journal.append(nothing, {})
    journal.close()
    assert run(["doctor", "--journal", str(tmp_path / "journal")]) == 2
    error = capsys.readouterr().err
    assert (
        "has too few batches to identify a bottleneck: no query had three batches at one size"
        in error
    )
    assert error.count("\n") == 1
