"""The file ``spark-defaults.conf`` of a cluster of ours: a session that reads it needs no other
settings to run there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rheostat.machine.whole_file import write_whole

FILE = "spark-defaults.conf"


def write_defaults(folder: Path, settings: Mapping[str, str]) -> Path:
    """Write the settings into ``folder`` and return the file; ``SPARK_CONF_DIR`` is the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{name} {value}\n" for name, value in settings.items())
    write_whole(folder / FILE, lines)
    return folder / FILE
