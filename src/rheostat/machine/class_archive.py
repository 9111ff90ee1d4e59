"""Class archives (AppCDS), written by a running JVM that was started with ``RECORD``.

Java 17 cannot use an archive and record in the same process.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from rheostat.errors import RheostatError
from rheostat.machine.jdk import Jdk

RECORD = ("-XX:+RecordDynamicDumpInfo",)
DUMP_DEADLINE_S = 60.0
# An archive that does not fit is passed over, and not one line of it in the log.
_SILENT = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xlog:class+path=off")
# Mapped where it was made for, its pages are shared by all JVMs and need no relocation.
_AT_ITS_ADDRESS = ("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")
_LINE = re.compile(r"^[|\- ]*(?P<name>[\w.$]+)/(?P<loader>null|0x[0-9a-f]+)$")
_MADE_UP = re.compile(
    r"\$\$(Lambda|FastClass|Enhancer)|LambdaForm|\$Proxy|GeneratedClass|SpecificUnsafe|Generated[CMS][a-z]+Accessor"
)


def use(archive: Path) -> tuple[str, ...]:
    """Return the JVM options for an archive; one that does not fit is silently ignored."""
    return (f"-XX:SharedArchiveFile={archive}", *_AT_ITS_ADDRESS, *_SILENT)


def dump(pid: int, archive: Path, jdk: Jdk) -> None:
    """Make a JVM write its archive atomically; it is blocked for seconds meanwhile.

    Raises ``RheostatError`` if the JVM does not record, has gone, or does not answer.
    """
    partial = archive.with_suffix(f".{os.getpid()}.partial")
    archive.parent.mkdir(parents=True, exist_ok=True)
    try:
        output = _jcmd(jdk, pid, "VM.cds", "dynamic_dump", str(partial))
        # jcmd exits with 0 even if the JVM has refused: only the file shows it.
        if not partial.exists():
            raise RheostatError(f"jcmd wrote no archive: {' '.join(output.split())[-200:]}")
        partial.replace(archive)
    finally:
        partial.unlink(missing_ok=True)


def loaded_classes(pid: int, jdk: Jdk, near: str) -> list[str]:
    """Return the classes that a JVM loaded from its libraries and the class path of ``near``.

    Generated classes are left out. Raises ``RheostatError`` as ``dump`` does.
    """
    return named(_jcmd(jdk, pid, "VM.class_hierarchy"), near)


def named(hierarchy: str, near: str) -> list[str]:
    """Return the classes of ``jcmd PID VM.class_hierarchy``, as ``loaded_classes`` says."""
    classes = [
        match.group("name", "loader") for match in map(_LINE.match, hierarchy.splitlines()) if match
    ]
    # Loaders are printed by address, so a class that it has loaded identifies the wanted one.
    loaders = {loader for name, loader in classes if name == near} | {"null"}
    if len(loaders) == 1:
        raise RheostatError(f"the JVM has not loaded {near}")
    return sorted(
        {name for name, loader in classes if loader in loaders and not _MADE_UP.search(name)}
    )


def _jcmd(jdk: Jdk, pid: int, *command: str) -> str:
    line = [str(jdk.home / "bin" / "jcmd"), str(pid), *command]
    try:
        done = subprocess.run(
            line, capture_output=True, text=True, timeout=DUMP_DEADLINE_S, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise RheostatError(f"jcmd cannot be run: {fault}") from None
    if done.returncode != 0:
        raise RheostatError(f"jcmd failed: {' '.join((done.stdout + done.stderr).split())[-200:]}")
    return done.stdout
