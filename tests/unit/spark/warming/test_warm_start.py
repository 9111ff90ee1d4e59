from __future__ import annotations

import os
from pathlib import Path

import pytest

from rheostat.errors import BadInput, RheostatError
from rheostat.machine.jdk import Jdk
from rheostat.spark.warming import warm_start
from rheostat.spark.warming.warm_start import (
    KEPT,
    LIBRARIES,
    SETTING,
    WarmStart,
    libraries,
    of_script,
    of_session,
    prepare,
)

JAVA = "#!/bin/sh\nexit 0\n"
JAVAC = '#!/bin/sh\nwhile [ "$1" != -d ]; do shift; done; mkdir -p "$2"\n'
JAR = '#!/bin/sh\ntouch "$2"\n'


class Context:
    def __init__(self, settings: dict[str, str]) -> None:
        self._settings = settings

    def getConf(self) -> dict[str, str]:  # noqa: N802 - PySpark's name
        return self._settings


class Session:
    def __init__(self, settings: dict[str, str]) -> None:
        self.sparkContext = Context(settings)


@pytest.fixture
def jdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jdk:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("JAVA_TOOL_OPTIONS", raising=False)
    return fake_jdk(tmp_path / "jdk", JAVA)


def fake_jdk(folder: Path, java: str, has_jcmd: bool = True) -> Jdk:
    (folder / "bin").mkdir(parents=True)
    for name, script in (("java", java), ("javac", JAVAC), ("jar", JAR)):
        (folder / "bin" / name).write_text(script)
        (folder / "bin" / name).chmod(0o755)
    return Jdk(folder, 17, has_jcmd)


def prepared(
    folder: Path,
    jdk: Jdk,
    application: str = "app",
    jars: tuple[Path, ...] = (),
    flags: tuple[str, ...] = (),
) -> WarmStart:
    return prepare(
        application,
        folder / "jars",
        folder / "cluster" / "executor.args",
        jdk=jdk,
        jars=jars,
        flags=flags,
    )


def options(folder: Path) -> str:
    return (folder / "cluster" / "executor.args").read_text()


def cached_folders(folder: Path) -> list[Path]:
    return [
        path for path in (folder / "cache" / "rheostat" / "warm-start").iterdir() if path.is_dir()
    ]


def train(folder: Path) -> None:
    for name in ("archive.jsa", "classes.txt"):
        (cached_folders(folder)[0] / name).touch()


def test_the_first_executors_record_an_archive_that_later_ones_use(
    tmp_path: Path, jdk: Jdk
) -> None:
    warm = prepared(tmp_path, jdk)
    assert options(tmp_path) == '"-XX:+RecordDynamicDumpInfo"\n'
    assert not warm.trained
    train(tmp_path)
    warm.refresh()
    assert warm.trained
    assert f'"-XX:SharedArchiveFile={cached_folders(tmp_path)[0]}/archive.jsa"' in options(tmp_path)
    assert '"-javaagent:' in options(tmp_path)
    assert "Record" not in options(tmp_path)  # Java does not start with both
    assert prepared(tmp_path, jdk).trained


def test_an_archive_without_its_class_list_is_not_used(tmp_path: Path, jdk: Jdk) -> None:
    warm = prepared(tmp_path, jdk)
    (cached_folders(tmp_path)[0] / "archive.jsa").touch()
    warm.refresh()
    assert not warm.trained
    assert "SharedArchiveFile" not in options(tmp_path)


def test_executors_start_normally_if_java_rejects_the_options(tmp_path: Path, jdk: Jdk) -> None:
    prepared(tmp_path, fake_jdk(tmp_path / "old", "#!/bin/sh\nexit 1\n"))
    assert options(tmp_path) == ""


def test_the_agents_jar_exists_before_an_option_names_it(tmp_path: Path, jdk: Jdk) -> None:
    prepared(tmp_path, jdk)
    train(tmp_path)
    prepared(tmp_path, jdk)
    (line,) = [line.strip('"') for line in options(tmp_path).splitlines() if "-javaagent" in line]
    assert Path(line.removeprefix("-javaagent:").partition("=")[0]).is_file()


def test_another_application_jar_option_or_spark_needs_new_training(
    tmp_path: Path, jdk: Jdk
) -> None:
    jar = tmp_path / "a.jar"
    jar.write_text("a")
    prepared(tmp_path, jdk, jars=(jar,))
    train(tmp_path)
    assert prepared(tmp_path, jdk, jars=(jar,)).trained
    assert not prepared(tmp_path, jdk, "another", jars=(jar,)).trained
    assert not prepared(tmp_path, jdk, jars=(jar,), flags=("-Xss1m",)).trained
    jar.write_text("another content")
    assert not prepared(tmp_path, jdk, jars=(jar,)).trained


def test_only_the_latest_applications_stay_in_the_cache(tmp_path: Path, jdk: Jdk) -> None:
    for number in range(KEPT + 2):
        prepared(tmp_path, jdk, f"app {number}")
        for age, path in enumerate(cached_folders(tmp_path)):
            os.utime(path, (path.stat().st_mtime - 60 - age,) * 2)
    assert len(cached_folders(tmp_path)) == KEPT
    assert prepared(tmp_path, jdk, f"app {KEPT + 1}") is not None
    assert len(cached_folders(tmp_path)) == KEPT


def test_a_jre_is_rejected_with_the_reason(tmp_path: Path, jdk: Jdk) -> None:
    with pytest.raises(RheostatError, match="is a JRE"):
        prepared(tmp_path, Jdk(jdk.home, 17, False))
    assert not (tmp_path / "cluster").exists()


@pytest.mark.parametrize(
    "flag", ["-javaagent:/their/agent.jar", "-XX:SharedArchiveFile=/their.jsa", "-Xshare:off"]
)
def test_conflicting_java_options_exclude_a_warm_start(tmp_path: Path, jdk: Jdk, flag: str) -> None:
    with pytest.raises(RheostatError, match=flag.partition(":")[0]):
        prepared(tmp_path, jdk, flags=("-Xss1m", flag))


def test_a_session_locates_its_warm_start_by_a_setting(tmp_path: Path, jdk: Jdk) -> None:
    warm = prepared(tmp_path, jdk)
    flags = {"spark.executor.extraJavaOptions": " ".join(["-Xss1m", *warm.flags])}
    located = of_session(Session({**warm.settings, **flags}))
    assert located is not None
    assert located.flags == warm.flags
    assert of_session(Session({})) is None
    assert of_session(Session(warm.settings)) is None  # the script has configured JVM options
    gone = str(tmp_path / "gone.args")
    assert (
        of_session(Session({SETTING: gone, "spark.executor.extraJavaOptions": f"@{gone}"})) is None
    )


def test_a_remote_executor_trains_nothing(tmp_path: Path, jdk: Jdk) -> None:
    warm = prepared(tmp_path, jdk)
    assert warm.train("app-of-nobody", "7") is False
    assert not warm.trained


def test_a_path_with_spaces_and_quotes_is_one_option(
    tmp_path: Path, jdk: Jdk, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / 'a "b c'
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    prepared(folder, jdk)
    train(folder)
    prepared(folder, jdk)
    assert f'"-XX:SharedArchiveFile={tmp_path}/a \\"b c/' in options(folder)


def test_a_changed_script_is_another_application(tmp_path: Path) -> None:
    script = tmp_path / "app.py"
    script.write_text("1")
    first = of_script(script)
    script.write_text("2")
    assert of_script(script) != first
    with pytest.raises(BadInput, match="cannot be read"):
        of_script(tmp_path / "none.py")


def test_only_libraries_used_by_the_application_are_exercised() -> None:
    assert libraries(["java.lang.Object", "org.rocksdb.RocksDB"]) == ["rocksdb"]
    assert libraries(list(LIBRARIES.values())) == list(LIBRARIES)
    source = (Path(warm_start.__file__).parent / "agent" / "Exercise.java").read_text()
    assert all(f'"{name}", Exercise::' in source for name in LIBRARIES)


def test_foreign_folders_in_the_cache_are_kept(tmp_path, jdk):
    prepared(tmp_path, jdk, "app")
    (theirs := cached_folders(tmp_path)[0].parent / "theirs").mkdir()
    for number in range(KEPT + 2):
        prepared(tmp_path, jdk, f"app {number}")
    assert theirs.is_dir()
