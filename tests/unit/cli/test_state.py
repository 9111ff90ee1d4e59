import json
import os

import pytest
from tests.unit.repartition.checkpoint_on_disk import (
    complete_checkpoint,
    plan_batch,
    write_file,
    write_operator,
)

from rheostat.cli.app import run
from rheostat.repartition.checkpoint import read_checkpoint
from rheostat.repartition.preflight import plan_of
from rheostat.repartition.repartition_log import RepartitionLog
from rheostat.storage.local_files import LocalFileSystem


def test_inspect_reports_stores_and_partitions_as_json(tmp_path, capsys):
    complete_checkpoint(tmp_path)
    write_file(tmp_path / "state/0/0/1.zip", "xx")
    assert run(["state", "inspect", str(tmp_path), "--no-rows", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["partitions"], result["last_batch"], result["in_use"]) == (4, 1, True)
    assert result["stores"][0]["partitions"][0]["file_bytes"] > 0


def test_inspect_reports_an_unfinished_repartition(tmp_path, capsys):
    plan_batch(complete_checkpoint(tmp_path), 2, 7)
    assert run(["state", "inspect", str(tmp_path), "--no-rows"]) == 0
    assert "a repartition to 7 partitions was left unfinished" in capsys.readouterr().out


def test_plan_reports_what_is_impossible_and_why(tmp_path, capsys):
    write_operator(complete_checkpoint(tmp_path), 1, "globalLimit")
    assert run(["state", "plan", str(tmp_path), "--partitions", "2", "--no-rows"]) == 0
    result = capsys.readouterr().out
    assert "not possible now: operator 1 (globalLimit)" in result
    assert ".coalesce(2)" in result


def test_inspect_and_plan_report_an_unfinished_repartition_and_a_missing_file(tmp_path, capsys):
    checkpoint = read_checkpoint(str(complete_checkpoint(tmp_path)), LocalFileSystem())
    RepartitionLog(str(tmp_path), LocalFileSystem()).begin(plan_of(checkpoint, 7), 1.0)
    plan_batch(tmp_path, 2, 7)  # the repartition's lock
    for command in (["inspect"], ["plan", "--partitions", "9"]):
        assert run(["state", *command, str(tmp_path), "--no-rows"]) == 0
        result = capsys.readouterr().out
        assert "a repartition to 7 partitions is unfinished: complete it with" in result
        assert "repair" not in result
        assert "/state/0/0/2.changelog is missing" in result


@pytest.mark.parametrize("line", ["{}", "[1]", '{"phase":"begun","t_s":1,"plan":{"shards":7}}'])
def test_a_journal_of_another_version_is_rejected(tmp_path, capsys, line):
    write_file(complete_checkpoint(tmp_path) / "_rheostat/journal.jsonl", f"{line}\n")
    for command in (["inspect", "--no-rows"], ["repartition", "--partitions", "9"], ["undo"]):
        assert run(["state", command[0], str(tmp_path), *command[1:]]) == 2
        error_output = capsys.readouterr().err
        assert "has a line that this Rheostat cannot read" in error_output
        assert error_output.count("\n") == 1


def test_inspect_tolerates_files_deleted_by_a_running_query(tmp_path, capsys):
    complete_checkpoint(tmp_path)
    write_file(tmp_path / "state/0/0/1.zip", "xx")
    for gone in ("offsets/0", "commits/0"):
        (tmp_path / gone).unlink()
        (tmp_path / gone).symlink_to("nowhere")  # it is listed but does not exist
    (tmp_path / "state/0/0/0.zip").symlink_to("nowhere")
    assert run(["state", "inspect", str(tmp_path), "--no-rows"]) == 0
    assert "4 state partitions" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["inspect", "CHECKPOINT/nowhere"], "is not a folder"),
        (["inspect", "CHECKPOINT/state"], "is not the checkpoint"),
        (["plan", "CHECKPOINT", "--partitions", "0"], "must be from 1 to 32768, but it is 0"),
        (["plan", "CHECKPOINT", "--partitions", "40000"], "must be from 1 to 32768"),
        (["plan", "CHECKPOINT"], "--partitions"),
        (
            ["repartition", "CHECKPOINT", "--partitions", "0"],
            "must be from 1 to 32768, but it is 0",
        ),
        (["repartition", "CHECKPOINT", "--partitions", "4"], "what"),
        (["repartition", "CHECKPOINT/nowhere", "--partitions", "7"], "is not a folder"),
        (["repartition", "CHECKPOINT/state", "--partitions", "7"], "is not the checkpoint"),
        (["repartition", "", "--partitions", "7"], "an empty name is not a folder"),
        (["inspect", ""], "an empty name is not a folder"),
        (["undo", "dbfs:/checkpoints/orders"], "copy the checkpoint"),
        (["undo", "CHECKPOINT"], "has no repartition that can be undone"),
        (["repair", "CHECKPOINT"], "its newest batch 1 is committed"),
    ],
)
def test_bad_input_is_reported_in_one_line_and_writes_nothing(tmp_path, capsys, arguments, message):
    complete_checkpoint(tmp_path)
    for log in ("offsets", "commits"):
        for entry in (tmp_path / log).iterdir():
            os.utime(entry, (1, 1))
    before = sorted(tmp_path.rglob("*"))
    given = [argument.replace("CHECKPOINT", str(tmp_path)) for argument in arguments]
    assert run(["state", *given]) == 2
    line = capsys.readouterr().err
    assert message in line
    assert line.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before
