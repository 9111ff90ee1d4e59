"""Every kind of state, both providers: after a rewrite a query gives out what it would have given
without."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.repartition.committed_rewrite import rescale, wanted
from tests.e2e.repartition.stateful_cases import (
    CASES,
    JOIN_FORMAT,
    SETTINGS,
    run,
    source,
    write_file,
)

from rheostat.errors import BadInput
from rheostat.local.local_session import start_session
from rheostat.repartition.checkpoints.state_files import missing_file
from rheostat.repartition.rewrite.spark_rewriter import SparkRewriter
from rheostat.spark.sensing.query_shape import (
    CHANGELOG,
    FILES,
    PROVIDER,
    ROCKSDB,
    SHUFFLE_PARTITIONS,
)

pytestmark = pytest.mark.e2e

FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
PROVIDERS = {
    "hdfs": {},
    "snapshot": {PROVIDER: ROCKSDB},
    "changelog": {PROVIDER: ROCKSDB, CHANGELOG: "true"},
    "format-2": {PROVIDER: ROCKSDB, CHANGELOG: "true", FORMAT: "2"},
}
NEEDS_FAMILIES = {"transform-with-state", "outer-join-3", "outer-join-4"}
TELLS_WHEN_IT_STOPPED = {"transform-with-state"}
"""Their timers show what was seen when they fired. A stop lets the watermark catch up, so that they
fire earlier than in a run that never stops: the other run of theirs stops at the same place."""
QUICK_FILES = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    FILES: QUICK_FILES,
}


@pytest.fixture(scope="module")
def spark(driver: dict[str, str]) -> Iterator[SparkSession]:
    session = start_session("local[2]", OPTIONS, "operator matrix")
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def configure(spark: SparkSession, partitions: int, settings: dict[str, str]) -> None:
    for name in (PROVIDER, CHANGELOG, FORMAT, JOIN_FORMAT):
        spark.conf.unset(name)
    for name, value in {**settings, SHUFFLE_PARTITIONS: str(partitions)}.items():
        spark.conf.set(name, value)


def check(
    spark: SparkSession, folder: Path, case: str, provider: str, before: int, after: int, files: int
) -> None:
    """Run half of the files, rewrite, run the rest, and compare with a run that was left alone."""
    configure(spark, before, {**PROVIDERS[provider], **SETTINGS.get(case, {})})
    for number in range(files // 2):
        write_file(folder / "files", number)
    given = run(spark, case, folder / "files", folder / "checkpoint")
    left_alone = []
    if case in TELLS_WHEN_IT_STOPPED:
        left_alone = list(given)
        shutil.copytree(folder / "checkpoint", folder / "left alone")
    assert missing_file(wanted(folder / "checkpoint", after)[0]) is None
    done = rescale(spark, folder / "checkpoint", after)
    assert done.before
    assert all(done.after[store].same_content(count) for store, count in done.before.items())
    known, _ = wanted(folder / "checkpoint", after)
    assert known.partitions == after
    counted = SparkRewriter(spark).measure(known.state)
    assert all(counted[store].same_content(count) for store, count in done.before.items())
    assert [count.misplaced for count in counted.values()] == [0] * len(counted)
    for number in range(files // 2, files):
        write_file(folder / "files", number)
    given += run(spark, case, folder / "files", folder / "checkpoint")
    left_alone += run(spark, case, folder / "files", folder / "left alone")
    assert sorted(map(str, given)) == sorted(map(str, left_alone))
    assert given


@pytest.mark.parametrize(
    ("case", "provider", "before", "after"),
    [
        ("count", "hdfs", 2, 3),
        ("inner-join", "changelog", 4, 2),
        ("outer-join-4", "snapshot", 2, 3),
    ],
)
def test_a_query_goes_on_as_if_nothing_had_been(spark, tmp_path, case, provider, before, after):
    check(spark, tmp_path, case, provider, before, after, files=2)


@pytest.mark.thorough
@pytest.mark.parametrize(("before", "after"), [(4, 7), (8, 3)])
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("case", CASES)
def test_the_whole_matrix(spark, tmp_path, case, provider, before, after):
    if case in NEEDS_FAMILIES and provider == "hdfs":
        pytest.skip("Spark has this operator on RocksDB only")
    check(spark, tmp_path, case, provider, before, after, files=6)


def test_a_limit_is_refused_before_anything_is_written(spark, tmp_path):
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


def test_a_rewrite_can_be_taken_back_and_done_again(spark, tmp_path):
    configure(spark, 2, {})
    write_file(tmp_path / "files", 0)
    run(spark, "count", tmp_path / "files", tmp_path / "c")
    before = states(tmp_path / "c")
    _, rewrite = wanted(tmp_path / "c", 4)
    rewriter = SparkRewriter(spark)
    first = rewriter.rewrite(rewrite)
    rewriter.discard(rewrite)
    assert states(tmp_path / "c") == before
    again, once_more = rewriter.rewrite(rewrite), rewriter.rewrite(rewrite)
    assert first == again == once_more


def test_a_rewrite_that_was_interrupted_goes_on_with_what_is_not_done(spark, tmp_path):
    configure(spark, 2, PROVIDERS["snapshot"])
    write_file(tmp_path / "files", 0)
    run(spark, "inner-join", tmp_path / "files", tmp_path / "c")
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
