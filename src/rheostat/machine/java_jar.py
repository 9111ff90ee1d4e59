"""Compiles Rheostat's Java classes once with the JDK of this computer and caches the JAR."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from rheostat.errors import RheostatError
from rheostat.machine.jdk import Jdk
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
        tools = jdk.home / "bin"
        _run(
            [
                tools / "javac",
                "-proc:none",
                "-nowarn",
                "--release",
                _RELEASE,
                "-d",
                classes,
                "-cp",
                class_path,
                *sources,
            ]
        )
        _run([tools / "jar", "cfm", partial, manifest, "-C", classes, "."])
        # The rename is atomic: another process may read the same name at this moment.
        partial.replace(jar)
    return jar


def _run(command: Sequence[str | Path]) -> None:
    line = list(map(str, command))
    try:
        done = subprocess.run(
            line,
            capture_output=True,
            text=True,
            timeout=COMPILE_DEADLINE_S,
            stdin=subprocess.DEVNULL,
            env=_plain(),
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise RheostatError(f"{Path(line[0]).name} cannot be run: {fault}") from None
    if done.returncode != 0:
        errors = [
            printed for printed in (done.stdout + done.stderr).splitlines() if "error" in printed
        ] or ["no output"]
        raise RheostatError(f"{Path(line[0]).name} failed: {errors[0].strip()[:200]}")


def _plain() -> dict[str, str]:
    """Return the environment without the JVM options that the compiler would also apply."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")
    }
