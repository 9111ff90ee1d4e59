"""For every kind of state and both providers, a rewrite does not change the output of a query."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e.repartition.committed_rewrite import wanted
from tests.e2e.repartition.left_alone import PROVIDERS, check, configure
from tests.e2e.repartition.stateful_cases import CASES, run, source, write_file

from rheostat.errors import BadInput
from rheostat.repartition.spark_rewriter import SparkRewriter

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize(
    ("case", "provider", "before", "after"),
    [
        ("count", "hdfs", 2, 3),
        pytest.param("inner-join", "changelog", 4, 2, marks=pytest.mark.thorough),
        ("outer-join-4", "snapshot", 2, 3),
    ],
)
def test_a_rewrite_does_not_change_the_output(spark, tmp_path, case, provider, before, after):
    check(spark, tmp_path, CASES[case], provider, (before, after))


@pytest.mark.thorough
@pytest.mark.parametrize(("before", "after"), [(4, 7), (8, 3)])
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("case", CASES)
def test_every_operator_and_provider_survives_a_rewrite(
    spark, tmp_path, case, provider, before, after
):
    if CASES[case].rocksdb_only and provider == "hdfs":
        pytest.skip("Spark has this operator on RocksDB only")
    check(spark, tmp_path, CASES[case], provider, (before, after), files_a_part=3)


def test_a_limit_is_rejected_before_any_write(spark, tmp_path):
    write_file(tmp_path / "files", 0)
    configure(spark, 2, {})
    limited = source(spark, tmp_path / "files").limit(5).writeStream.format("noop")
    limited = limited.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True)
    limited.start().awaitTermination()
    before = sorted(map(str, (tmp_path / "c").rglob("*")))
    _, rewrite = wanted(tmp_path / "c", 3)
    with pytest.raises(BadInput, match="a limit counts all rows"):
        SparkRewriter(spark).rewrite(rewrite)
    assert sorted(map(str, (tmp_path / "c").rglob("*"))) == before


def test_a_rewrite_can_be_repeated(spark, tmp_path):
    configure(spark, 2, {})
    write_file(tmp_path / "files", 0)
    run(spark, CASES["count"], tmp_path / "files", tmp_path / "c")
    _, rewrite = wanted(tmp_path / "c", 4)
    rewriter = SparkRewriter(spark)
    assert rewriter.rewrite(rewrite) == rewriter.rewrite(rewrite)


def test_an_interrupted_rewrite_completes_only_missing_stores(spark, tmp_path):
    configure(spark, 2, PROVIDERS["snapshot"])
    write_file(tmp_path / "files", 0)
    run(spark, CASES["inner-join"], tmp_path / "files", tmp_path / "c")
    notes = tmp_path / "notes"
    notes.mkdir()
    _, rewrite = wanted(tmp_path / "c", 4)
    noting = replace(rewrite, notes=str(notes))
    first = SparkRewriter(spark).rewrite(noting)
    assert len([*notes.iterdir()]) == 8
    (notes / "0-left-keyToNumValues-1").unlink()
    half = [tmp_path / "c/state/0" / part / "left-keyToNumValues" for part in ("1", "3")]
    for folder in half:
        (folder / f"{rewrite.batch + 1}.zip").unlink()
    others = [Path(name) for name in states(tmp_path / "c") if not is_in(half, Path(name))]
    before = {path: path.stat().st_mtime_ns for path in others}
    assert SparkRewriter(spark).rewrite(noting) == first
    assert all((folder / f"{rewrite.batch + 1}.zip").is_file() for folder in half)
    assert {path: path.stat().st_mtime_ns for path in others} == before


def is_in(folders: list[Path], path: Path) -> bool:
    return any(folder in path.parents for folder in folders)


def states(folder: Path) -> list[str]:
    return sorted(str(path) for path in (folder / "state").rglob("*") if path.is_file())
