from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat.kafka.jars import SourceJars, source_jars, up_to
from rheostat.machine.ivy import MARKER, complete_jars

numbers = st.integers(0, 30)


def cached(cache: Path, version: str, names: list[str]) -> Path:
    folder = cache / "rheostat" / "jars" / f"source-{version}"
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()
    (folder / MARKER).write_text(json.dumps(names))
    return folder


@given(st.tuples(numbers, numbers, numbers), st.tuples(numbers, numbers, numbers))
def test_a_release_matches_if_it_is_not_newer_and_has_the_same_major(
    wanted: tuple[int, int, int], other: tuple[int, int, int]
) -> None:
    taken = re.fullmatch(up_to(*wanted), ".".join(map(str, other))) is not None
    assert taken == (other[0] == wanted[0] and other <= wanted)


@pytest.mark.parametrize("preview", ["4.1.0-preview1", "4.0.0-rc2", "4.2.0.1", "4.2"])
def test_a_preview_never_matches(preview: str) -> None:
    assert re.fullmatch(up_to(4, 3, 0), preview) is None


def test_cached_jars_are_used_without_java_or_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    names = ["kafka-clients-3.4.1.jar", "spark-sql-kafka-0-10_2.12-3.5.7.jar"]
    folder = cached(tmp_path, "3.5.7", names)
    assert source_jars("3.5.7") == SourceJars(tuple(folder / name for name in names), "3.5.7", None)


def test_an_older_source_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cached(tmp_path, "4.3.0", ["spark-sql-kafka-0-10_2.13-4.2.0.jar"])
    jars = source_jars("4.3.0")
    assert jars.version == "4.2.0"
    assert (
        jars.note
        == "Spark's Kafka source 4.3.0 is not available, so 4.2.0 is used, the newest older version"
    )


def test_an_incomplete_folder_is_not_used(tmp_path: Path) -> None:
    folder = cached(tmp_path, "4.2.0", ["a.jar", "b.jar"])
    assert complete_jars(folder) == (folder / "a.jar", folder / "b.jar")
    (folder / "b.jar").unlink()
    assert complete_jars(folder) == ()
    (folder / "b.jar").touch()
    (folder / MARKER).write_text('["a.jar"')
    assert complete_jars(folder) == ()
    (folder / MARKER).unlink()
    assert complete_jars(folder) == ()


@pytest.mark.parametrize("version", ["3.4.1", "2.4.8", "5.0.0", "four"])
def test_an_unsupported_version_is_rejected(version: str) -> None:
    with pytest.raises(BadInput, match=rf"Spark {version} is not supported; it must be 3.5 to 4.3"):
        source_jars(version)
