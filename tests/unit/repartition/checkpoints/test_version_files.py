import pytest

from rheostat.repartition.checkpoints.state_files import (
    operator_metadata,
    state_folders,
    version_of,
    versions_from,
)
from rheostat.storage.local_files import LocalFileSystem


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("12.zip", 12),
        (".12.zip.crc", 12),
        ("12.changelog", 12),
        ("12_4b6c9f1e-aa00.zip", 12),
        ("12_4b6c9f1e-aa00.changelog", 12),
        ("7.snapshot", 7),
        ("7.delta", 7),
        ("7.delta.crc", 7),
        ("000012-4b6c.sst", None),
        ("SSTs", None),
        ("_metadata", None),
        ("12.zip.tmp-partial", 12),
    ],
)
def test_the_version_of_a_file_is_in_its_name(name, version):
    assert version_of(name) == version


def test_a_version_and_all_later_ones_are_found():
    names = ["9.zip", "10.zip", "10_id.changelog", "11.delta", "schema"]
    assert versions_from(names, 10) == ["10.zip", "10_id.changelog", "11.delta"]


def test_stores_of_joins_have_folders_of_their_own(tmp_path):
    for folder in ("0/1/SSTs", "0/_metadata", "1/0/left-keyToNumValues", "1/0/_metadata"):
        (tmp_path / "state" / folder).mkdir(parents=True)
    found = [*state_folders(str(tmp_path), LocalFileSystem())]
    assert [each.removeprefix(f"{tmp_path}/state/") for each in found] == [
        "0/1",
        "1/0",
        "1/0/left-keyToNumValues",
    ]


def test_metadata_gets_the_new_number_in_every_store():
    text = 'v2\n{"a":1,"stateStoreInfo":[{"storeName":"s","numPartitions":4}]}'
    assert operator_metadata(text, 7) == text.replace("4", "7")
