from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat.machine.jdk import Jdk, find_jdk


def install_java(home: Path, version: str, *, jcmd: bool = True, release: bool = True) -> Path:
    """Create a Java installation whose program prints only its version."""
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(0o755)
    if jcmd:
        (home / "bin" / "jcmd").touch()
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="Nobody"\nJAVA_VERSION="{version}"\n')
    return home


def jdk_of(tmp_path: Path, **environment: str) -> Jdk:
    return find_jdk({"PATH": "", **environment}, (f"{tmp_path}/jvm/*",))


@pytest.mark.parametrize("version", ["17.0.15", "21", "21.0.2"])
def test_a_supported_java_is_located_in_the_default_folders(tmp_path: Path, version: str) -> None:
    home = install_java(tmp_path / "jvm/a", version)
    assert jdk_of(tmp_path) == Jdk(home, int(version[:2]), has_jcmd=True)


def test_java_home_takes_precedence_even_if_it_is_a_jre(tmp_path: Path) -> None:
    install_java(tmp_path / "jvm/jdk", "17.0.1")
    home = install_java(tmp_path / "mine", "21.0.1", jcmd=False)
    assert jdk_of(tmp_path, JAVA_HOME=str(home)) == Jdk(home, 21, has_jcmd=False)


def test_an_unsupported_java_home_is_skipped(tmp_path: Path) -> None:
    home = install_java(tmp_path / "jvm/17", "17.0.1")
    assert jdk_of(tmp_path, JAVA_HOME=str(install_java(tmp_path / "mine", "25.0.3"))).home == home


def test_a_jdk_is_preferred_to_a_jre(tmp_path: Path) -> None:
    install_java(tmp_path / "jvm/a-jre", "17.0.1", jcmd=False)
    assert jdk_of(tmp_path).version == 17
    install_java(tmp_path / "jvm/b-jdk", "21.0.1")
    assert jdk_of(tmp_path).version == 21


def test_the_java_on_path_is_resolved_to_its_home(tmp_path: Path) -> None:
    home = install_java(tmp_path / "opt/java", "17.0.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/java").symlink_to(home / "bin/java")
    assert jdk_of(tmp_path, PATH=str(tmp_path / "bin")).home == home


def test_a_java_without_a_release_file_is_run_for_its_version(tmp_path: Path) -> None:
    install_java(tmp_path / "jvm/a", "17.0.9", release=False)
    assert jdk_of(tmp_path).version == 17


@pytest.mark.parametrize(
    ("version", "reported"), [("25.0.3", "Java 25"), ("11.0.2", "Java 11"), ("1.8.0_392", "Java 8")]
)
def test_an_unsupported_java_is_reported_in_one_line(
    tmp_path: Path, version: str, reported: str
) -> None:
    install_java(tmp_path / "jvm/a", version)
    with pytest.raises(
        BadInput, match=rf"17 or 21 is needed, but only {reported} .*JAVA_HOME"
    ) as caught:
        jdk_of(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_missing_java_is_reported(tmp_path: Path) -> None:
    (tmp_path / "jvm/src-only").mkdir(parents=True)
    with pytest.raises(BadInput, match="no Java was found"):
        jdk_of(tmp_path)
