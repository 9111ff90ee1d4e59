"""The cache of class archives: a folder per application and its dependencies."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.machine.jdk import Jdk
from rheostat.machine.scratch_folder import cache_folder as user_cache

KEPT = 6
"""The number of recently used applications whose archives (80 to 120 MB each) are kept."""


def of_script(script: Path) -> str:
    """Return the name of an application from its script: other content loads other classes."""
    try:
        content = script.read_bytes()
    except OSError as fault:
        raise BadInput(f"the script {script} cannot be read: {fault.strerror}") from None
    return f"{script.resolve()} {hashlib.sha256(content).hexdigest()}"


def archive_key(
    application: str, spark: Path, jars: Sequence[Path], flags: Sequence[str], jdk: Jdk
) -> str:
    """Return a key of everything that an archive depends on."""
    files = [jdk.home / "lib" / "modules", *sorted(spark.glob("*.jar")), *jars]
    # Sizes and times represent the contents: Spark's JARs are hundreds of megabytes.
    stamps = [
        f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files if file.exists()
    ]
    return hashlib.sha256(
        "\n".join([application, str(jdk.version), *stamps, *flags]).encode()
    ).hexdigest()[:20]


def cache_folder() -> Path:
    """Return the folder of all archives, in the user's cache."""
    return (user_cache() / "warm-start").absolute()


def forget_oldest(cache: Path, wanted: Path) -> None:
    """Remove the least recently used folders among those named by ``archive_key``."""
    others = [path for path in cache.glob("[0-9a-f]" * 20) if path.is_dir() and path != wanted]
    for path in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT - 1 :]:
        shutil.rmtree(path, ignore_errors=True)
