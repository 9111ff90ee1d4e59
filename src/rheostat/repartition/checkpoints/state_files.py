"""The files of state versions: their names, and whether all files of a batch exist."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from rheostat.repartition.checkpoints.checkpoint import Checkpoint

_NAME = re.compile(r"^(\d+)(_[^.]*)?\.(zip|snapshot|changelog|delta)$")
_SNAPSHOT_SUFFIXES = ("zip", "snapshot")


def missing_file(checkpoint: Checkpoint) -> str | None:
    """Return the first missing file of a checkpoint on this computer; None if all exist.

    A version is a snapshot (``zip``, ``snapshot``) and every change after it (``changelog``,
    ``delta``); a ``zip`` names its table files.
    """
    version = checkpoint.committed.batch + 1
    for folder in _folders(checkpoint):
        for name in _missing(folder, version):
            return str(folder / name)
    return None


def _folders(checkpoint: Checkpoint) -> Iterator[Path]:
    """Yield a folder per store and partition; an operator without a key has partition 0 only."""
    state = Path(checkpoint.location) / "state"
    for operator in checkpoint.operators:
        root = state / str(operator.id)
        keyed = any(path.name.isdecimal() and int(path.name) for path in root.iterdir())
        for partition in range(checkpoint.partitions if keyed else 1):
            for store in operator.stores:
                place = root / str(partition)
                yield place if store.name == "default" else place / store.name


def _missing(folder: Path, version: int) -> Iterator[str]:
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    versions = [(int(name[1]), name[3], name[0]) for name in map(_NAME.match, names) if name]
    first = max(
        (
            number
            for number, kind, _ in versions
            if kind in _SNAPSHOT_SUFFIXES and number <= version
        ),
        default=0,
    )
    changed = {number for number, kind, _ in versions if kind not in _SNAPSHOT_SUFFIXES}
    for number in range(version, first, -1):
        if number not in changed:
            yield f"{number}.{'delta' if _is_hdfs(versions) else 'changelog'}"
    archives = [name for number, kind, name in versions if number == first and kind == "zip"]
    if len(archives) == 1:  # of several attempts, only the commit log identifies the valid one
        yield from _missing_tables(folder, folder / archives[0])


def _is_hdfs(versions: list[tuple[int, str, str]]) -> bool:
    return any(kind in ("snapshot", "delta") for _, kind, _ in versions)


def _missing_tables(folder: Path, archive: Path) -> Iterator[str]:
    try:
        with zipfile.ZipFile(archive) as packed:
            metadata = json.loads(packed.read("metadata").split(b"\n", 1)[1])
        tables = [
            (sstfile["dfsSstFileName"], sstfile["sizeBytes"]) for sstfile in metadata["sstFiles"]
        ]
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, IndexError):
        return  # loading it reports the error
    for name, size in tables:
        file = folder / "SSTs" / name
        if not file.is_file() or file.stat().st_size != size:
            yield f"SSTs/{name}"


def operator_metadata(text: str, partitions: int) -> str:
    """Return the text of an operator's metadata with another number of partitions."""
    version, body = text.split("\n", 1)
    metadata = json.loads(body)
    for store in metadata["stateStoreInfo"]:
        store["numPartitions"] = partitions
    return f"{version}\n{json.dumps(metadata, separators=(',', ':'))}"
