"""The file ``spark-defaults.conf`` of a local cluster, with all settings of a session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rheostat.machine.atomic_file import write_atomic

FILE = "spark-defaults.conf"


def write_defaults(folder: Path, settings: Mapping[str, str], name: str = FILE) -> Path:
    """Write the settings to a file in ``folder`` and return it; ``SPARK_CONF_DIR`` is the folder. A
    file with another name is for ``spark-submit --properties-file``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{setting} {value}\n" for setting, value in settings.items())
    write_atomic(folder / name, lines)
    return folder / name
