"""Folder names that Spark would escape, and others."""

from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.repartition.spark_rewriter import PlainPaths


@pytest.mark.parametrize(
    "name", ["windows of windows", "100%", "a%20b", "a#b", "{a}", "a[1]", "a?"]
)
def test_a_folder_name_that_spark_escapes_gets_a_plain_link(tmp_path: Path, name: str) -> None:
    (tmp_path / name / "state").mkdir(parents=True)
    paths = PlainPaths()
    plain = paths.of(str(tmp_path / name))
    assert name not in plain
    assert [entry.name for entry in Path(plain).iterdir()] == ["state"]
    assert paths.of(str(tmp_path / name)) == plain
    assert paths.of(plain) == plain


@pytest.mark.parametrize("name", ["/data/orders", "/data/Bestellungen-süd_1.2", "hdfs://host/a b"])
def test_other_folder_names_are_used_directly(name: str) -> None:
    assert PlainPaths().of(name) == name


def test_links_are_removed_and_the_folder_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    paths = PlainPaths()
    link = Path(paths.of(str(tmp_path / "a b")))
    del paths
    assert not link.parent.exists()
    assert (tmp_path / "a b").is_dir()
