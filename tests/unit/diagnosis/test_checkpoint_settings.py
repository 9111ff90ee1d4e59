from __future__ import annotations

import json
from pathlib import Path

import pytest

from rheostat.diagnosis.checkpoint_settings import read_checkpoint
from rheostat.errors import BadInput
from rheostat.spark.sensing.query_shape import CHANGELOG, PROVIDER, ROCKSDB, shape


def checkpoint(folder: Path, batches: dict[str, str], stateful: bool = True) -> Path:
    (folder / "offsets").mkdir()
    for name, text in batches.items():
        (folder / "offsets" / name).write_text(text)
    if stateful:
        (folder / "state").mkdir()
    return folder


def entry(partitions: object) -> str:
    return (
        "v1\n"
        + json.dumps(
            {"batchWatermarkMs": 0, "conf": {"spark.sql.shuffle.partitions": str(partitions)}}
        )
        + '\n{"t":{"0":1}}'
    )


def test_the_newest_batch_is_determined_by_number_not_by_name(tmp_path):
    result = read_checkpoint(
        checkpoint(tmp_path, {"9": entry(9), "10": entry(10), ".10.crc": "x", "11.tmp": "x"})
    )
    assert result.state_partitions == 10


def test_a_query_without_state_has_no_state_partitions(tmp_path):
    assert (
        read_checkpoint(checkpoint(tmp_path, {"0": entry(200)}, stateful=False)).state_partitions
        is None
    )


@pytest.mark.parametrize(
    "text", ['v1\n{"batchWatermarkMs":0,"conf":{}}\n-', entry("auto"), entry("")]
)
def test_an_offset_log_without_a_partition_count_leaves_it_unknown(tmp_path, text):
    result = read_checkpoint(checkpoint(tmp_path, {"0": text}))
    assert (result.stateful, result.state_partitions) == (True, None)


@pytest.mark.parametrize(
    "text", ["", "v1\n", "v1\nno json\n-", 'v1\n{"conf": null}\n-', "v1\n[]\n-"]
)
def test_an_invalid_offset_log_is_reported_with_its_file(tmp_path, text):
    with pytest.raises(BadInput, match="offsets/7 is not an entry of an offset log"):
        read_checkpoint(checkpoint(tmp_path, {"7": text}))


def test_a_newer_format_is_reported(tmp_path):
    with pytest.raises(BadInput, match="has format 'v2'"):
        read_checkpoint(checkpoint(tmp_path, {"7": entry(8).replace("v1", "v2", 1)}))


@pytest.mark.parametrize("name", ["absent", "."])
def test_a_folder_without_a_checkpoint_is_reported(tmp_path, name):
    with pytest.raises(BadInput, match="is not the checkpoint of a started query"):
        read_checkpoint(tmp_path / name)


@pytest.mark.parametrize(
    ("files", "changelog"),
    [
        (["1.changelog", "2.changelog", "1.zip"], "true"),
        (["3_0b6f.changelog", "1_77aa.zip"], "true"),
        (["1.changelog", "10.zip"], "false"),  # switched off after version 1
        (["9.zip", "10.zip"], "false"),
        (["10.delta"], None),
        ([], None),
    ],
)
def test_state_files_reveal_whether_a_changelog_is_used(tmp_path, files, changelog):
    folder = checkpoint(tmp_path, {"0": entry(8)})
    partition = folder / "state" / "0" / "3"
    partition.mkdir(parents=True)
    for name in files:
        (partition / name).touch()
    assert read_checkpoint(folder).settings.get(CHANGELOG) == changelog


def test_a_checkpoint_with_changelog_files_gets_no_changelog_advice(tmp_path):
    folder = checkpoint(tmp_path, {"0": entry(24)})
    (folder / "state" / "0" / "0").mkdir(parents=True)
    (folder / "state" / "0" / "0" / "1.changelog").touch()
    settings = {**read_checkpoint(folder).settings, PROVIDER: ROCKSDB}
    store = next(
        finding
        for finding in shape(settings, spark_version="4.0.1", checkpoint=str(folder))
        if finding.topic == "state store"
    )
    assert (store.state, store.line) == ("good", "RocksDB with changelog")
