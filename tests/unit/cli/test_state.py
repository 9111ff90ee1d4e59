import json
import os

import pytest
from tests.unit.repartition.checkpoint_on_disk import operator, planned, whole, written

from rheostat.cli.app import run


def test_inspect_tells_stores_and_partitions_as_json(tmp_path, capsys):
    whole(tmp_path)
    written(tmp_path / "state/0/0/1.zip", "xx")
    assert run(["state", "inspect", str(tmp_path), "--no-rows", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["partitions"], told["last_batch"], told["in_use"]) == (4, 1, True)
    assert told["stores"][0]["partitions"][0]["file_bytes"] > 0


def test_inspect_shows_what_was_left_unfinished(tmp_path, capsys):
    planned(whole(tmp_path), 2, 7)
    assert run(["state", "inspect", str(tmp_path), "--no-rows"]) == 0
    assert "a repartition to 7 partitions was left unfinished" in capsys.readouterr().out


def test_plan_tells_what_is_impossible_and_why(tmp_path, capsys):
    operator(whole(tmp_path), 1, "globalLimit")
    assert run(["state", "plan", str(tmp_path), "--partitions", "2", "--no-rows"]) == 0
    told = capsys.readouterr().out
    assert "not possible now: operator 1 (globalLimit)" in told
    assert ".coalesce(2)" in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["inspect", "CHECKPOINT/nowhere"], "is no folder"),
        (["inspect", "CHECKPOINT/state"], "is no checkpoint"),
        (["plan", "CHECKPOINT", "--partitions", "0"], "must be at least 1"),
        (["plan", "CHECKPOINT"], "--partitions"),
        (["rescale", "CHECKPOINT", "--partitions", "0"], "must be from 1 to 32768, but it is 0"),
        (["rescale", "CHECKPOINT", "--partitions", "4"], "what"),
        (["rescale", "CHECKPOINT/nowhere", "--partitions", "7"], "is no folder"),
        (["rescale", "CHECKPOINT/state", "--partitions", "7"], "is no checkpoint"),
        (["rescale", "s3a://bucket/orders", "--partitions", "7"], "copy the checkpoint"),
        (["undo", "CHECKPOINT"], "has no repartition that could be taken back"),
        (["repair", "CHECKPOINT"], "its newest batch 1 is committed"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(tmp_path, capsys, arguments, said):
    whole(tmp_path)
    for log in ("offsets", "commits"):
        for entry in (tmp_path / log).iterdir():
            os.utime(entry, (1, 1))
    before = sorted(tmp_path.rglob("*"))
    given = [each.replace("CHECKPOINT", str(tmp_path)) for each in arguments]
    assert run(["state", *given]) == 2
    line = capsys.readouterr().err
    assert said in line
    assert line.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before
