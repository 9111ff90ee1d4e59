"""Fetches JARs from Maven Central once, with the Ivy that PySpark includes; Maven is not needed."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
from pathlib import Path

from rheostat.errors import BadInput, RheostatError
from rheostat.machine.jdk import find_jdk
from rheostat.machine.scratch_folder import ScratchFolder

FETCH_DEADLINE_S = 600.0
MARKER = "complete.json"

_SETTINGS = """<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true"/></resolvers>
  <version-matchers usedefaults="true"><pattern-vm>
    <match revision="release" pattern="{release}" args="" matcher="regexp"/>
  </pattern-vm></version-matchers>
</ivysettings>"""

_MODULE = """<ivy-module version="2.0">
  <info organisation="rheostat" module="jars"/>
  <configurations><conf name="jars"/></configurations>
  <dependencies>{dependencies}</dependencies>
</ivy-module>"""


def cached_jars(
    folder: Path, what: str, dependencies: str, release: str = "unused"
) -> tuple[Path, ...]:
    """Return the JARs of ``folder``, which the first call fetches.

    ``dependencies`` are Ivy elements with ``conf="jars->..."``; ``release`` is the regular
    expression behind ``release()``. Raises ``BadInput``, naming ``what``, without a network.
    """
    return complete_jars(folder) or _fetch(folder, what, dependencies, release)


def complete_jars(folder: Path) -> tuple[Path, ...]:
    """Return the JARs of a completely fetched folder; empty for any other folder."""
    try:
        paths = tuple(folder / name for name in json.loads((folder / MARKER).read_text()))
    except (OSError, ValueError):
        return ()
    return paths if all(path.exists() for path in paths) else ()


def _fetch(folder: Path, what: str, dependencies: str, release: str) -> tuple[Path, ...]:
    java = find_jdk().java
    folder.mkdir(parents=True, exist_ok=True)
    # A folder next to the target: moving is atomic, and concurrent fetches do no harm.
    with ScratchFolder("fetch", folder.parent) as scratch:
        fetched = _run_ivy(java, scratch, what, dependencies, release)
        for path in fetched:
            path.replace(folder / path.name)
        # The marker comes last: an interrupted fetch leaves a folder that counts as incomplete.
        marker = scratch / MARKER
        marker.write_text(json.dumps([path.name for path in fetched]))
        marker.replace(folder / MARKER)
    return tuple(folder / path.name for path in fetched)


def _run_ivy(java: Path, scratch: Path, what: str, dependencies: str, release: str) -> list[Path]:
    (scratch / "settings.xml").write_text(_SETTINGS.format(release=release))
    (scratch / "ivy.xml").write_text(_MODULE.format(dependencies=dependencies))
    command = [str(java), "-jar", str(_ivy_jar())]
    # Use a separate cache: the user's ~/.ivy2 may contain a partial fetch or a foreign lock.
    command += ["-settings", "settings.xml", "-ivy", "ivy.xml", "-cache", str(scratch / "cache")]
    command += ["-retrieve", "lib/[artifact]-[revision].[ext]", "-types", "jar", "bundle"]
    try:
        done = subprocess.run(
            command,
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=FETCH_DEADLINE_S,
        )
    except subprocess.TimeoutExpired:
        raise BadInput(
            f"the JARs of {what} did not arrive within {FETCH_DEADLINE_S:.0f} s; try a faster"
            " network"
        ) from None
    if done.returncode != 0:
        raise _ivy_error(what, done.stdout + done.stderr)
    return sorted((scratch / "lib").iterdir())


def _ivy_error(what: str, output: str) -> RheostatError:
    """Return an error with one line that summarizes Ivy's output."""
    trouble = re.search(r"\((java\.net\.\w+|javax\.net\.\w+)[^)]*\)", output)
    if trouble or "UnknownHost" in output:
        return BadInput(
            f"the JARs of {what} must be fetched once, but there is no network; connect and try"
            " again"
        )
    missing = re.search(r":: (\S+#\S+): (.+)", output)
    reason = f"{missing[1]} ({missing[2]})" if missing else output.strip()[-200:].replace("\n", " ")
    return RheostatError(f"the JARs of {what} could not be fetched: {reason}")


def _ivy_jar() -> Path:
    spec = importlib.util.find_spec("pyspark")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    jars = [path for folder in folders for path in Path(folder).glob("jars/ivy-*.jar")]
    if not jars:
        raise BadInput(
            "no Ivy in the installed PySpark, which should be the full one (pip install pyspark,"
            " not pyspark-client)"
        )
    return jars[0]
