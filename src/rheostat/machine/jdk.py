"""Finds the Java of this computer: Java 17 or 21, which Spark 3.5 to 4.3 and Kafka 4 support."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rheostat.errors import BadInput, RheostatError
from rheostat.machine.process import run_program

GOOD_VERSIONS = (17, 21)
USUAL_PLACES = (
    "/usr/lib/jvm/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "/opt/homebrew/opt/openjdk@*/libexec/openjdk.jdk/Contents/Home",
    "/usr/local/opt/openjdk@*/libexec/openjdk.jdk/Contents/Home",
)
HOW_TO_GET_ONE = (
    "apt-get install openjdk-17-jdk-headless (Debian, Ubuntu), brew install openjdk@17 (macOS), or"
    " point JAVA_HOME at one"
)


@dataclass(frozen=True, slots=True)
class Jdk:
    """A Java installation: folder, major version, and whether it has ``jcmd`` (JDKs only)."""

    home: Path
    version: int
    has_jcmd: bool

    @property
    def java(self) -> Path:
        """The ``java`` program."""
        return self.home / "bin" / "java"


def find_jdk(
    environment: Mapping[str, str] | None = None, places: tuple[str, ...] = USUAL_PLACES
) -> Jdk:
    """Return a Java 17 or 21: that of JAVA_HOME, else a JDK before a JRE, PATH first.

    ``places`` are glob patterns of Java folders. Raises ``BadInput``, listing the installed
    versions. Callers must set JAVA_HOME to ``home`` for the programs that they start.
    """
    environment = os.environ if environment is None else environment
    installed = list(_installed(environment, places))
    good = [jdk for jdk in installed if jdk.version in GOOD_VERSIONS]
    if not good:
        raise BadInput(f"Java 17 or 21 is needed, but {_jdk_list(installed)}; {HOW_TO_GET_ONE}")
    # A Java named by JAVA_HOME is a deliberate choice, even if it is a JRE.
    if environment.get("JAVA_HOME") and good[0].home == Path(environment["JAVA_HOME"]).resolve():
        return good[0]
    return next((jdk for jdk in good if jdk.has_jcmd), good[0])


def _jdk_list(installed: list[Jdk]) -> str:
    if not installed:
        return "no Java was found"
    return (
        "only " + ", ".join(f"Java {jdk.version} ({jdk.home})" for jdk in installed) + " was found"
    )


def _installed(environment: Mapping[str, str], places: tuple[str, ...]) -> Iterator[Jdk]:
    visited: set[Path] = set()
    for folder in _candidates(environment, places):
        # Distributions link several names to the same Java.
        home = folder.resolve()
        version = None if home in visited else _version(home)
        visited.add(home)
        if version is not None:
            yield Jdk(home, version, (home / "bin" / "jcmd").exists())


def _candidates(environment: Mapping[str, str], places: tuple[str, ...]) -> Iterator[Path]:
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"])
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path:
        # Resolve it first: /usr/bin/java is a link to a link.
        yield Path(on_path).resolve().parents[1]
    for pattern in places:
        yield from sorted(Path("/").glob(pattern.lstrip("/")))


def _version(home: Path) -> int | None:
    """Return the major version from the ``release`` file or the program; None without Java."""
    if not (home / "bin" / "java").exists():
        return None
    try:
        text = (home / "release").read_text(errors="replace")
    except OSError:
        text = ""
    return _major(text) or _major(_java_version(home / "bin" / "java"))


def _java_version(java: Path) -> str:
    try:
        answer = run_program([java, "-version"], 20.0)
    except RheostatError:
        return ""
    return answer.stderr + answer.stdout


def _major(text: str) -> int | None:
    """Return 17 for ``JAVA_VERSION="17.0.15"``, 8 for ``version "1.8.0_392"``; None without one."""
    match = re.search(r'(?:JAVA_VERSION=| version )"(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None
