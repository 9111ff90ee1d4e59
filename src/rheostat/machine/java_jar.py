"""Compiles Rheostat's Java classes once with the JDK of this computer and caches the JAR."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from rheostat.errors import RheostatError
from rheostat.machine.jdk import Jdk
from rheostat.machine.process import run_program
from rheostat.machine.scratch_folder import ScratchFolder

COMPILE_DEADLINE_S = 120.0
_RELEASE = "17"


def build_jar(sources: Sequence[Path], main: str, class_path: str, jdk: Jdk, folder: Path) -> Path:
    """Return the JAR of ``sources``, compiled into ``folder`` unless it exists.

    ``main`` names it (its ``premain`` makes it an agent); ``class_path`` is that of ``javac -cp``.
    Raises ``RheostatError`` with the compiler's first error or without a compiler.
    """
    digest = hashlib.sha256(
        "\n".join(
            # Digest contents, not times: a second installation of a version reuses the JAR.
            [class_path, *(source.read_text(encoding="utf-8") for source in sources)]
        ).encode()
    ).hexdigest()[:16]
    jar = folder / f"{main.rpartition('.')[2]}-{digest}.jar"
    if jar.exists():
        return jar
    folder.mkdir(parents=True, exist_ok=True)
    with ScratchFolder("classes", folder) as scratch:
        classes, manifest, partial = scratch / "classes", scratch / "manifest", scratch / jar.name
        manifest.write_text(f"Premain-Class: {main}\n")
        tools, options = jdk.home / "bin", ("-proc:none", "-nowarn", "--release", _RELEASE)
        _run([tools / "javac", *options, "-d", classes, "-cp", class_path, *sources])
        _run([tools / "jar", "cfm", partial, manifest, "-C", classes, "."])
        # The rename is atomic: another process may read the same name at this moment.
        partial.replace(jar)
    return jar


def _run(command: Sequence[str | Path]) -> None:
    done = run_program(command, COMPILE_DEADLINE_S, _plain())
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).splitlines()
        error = next((line for line in lines if "error" in line), "no output")
        raise RheostatError(f"{Path(command[0]).name} failed: {error.strip()[:200]}")


def _plain() -> dict[str, str]:
    """Return the environment without the JVM options that the compiler would also apply."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")
    }
