"""The files of the versions of state: their names, and whether all files of a batch are there."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from rheostat.repartition.checkpoints.checkpoint import Checkpoint
from rheostat.storage.file_system import FileSystem

_NAME = re.compile(r"^(\d+)(_[^.]*)?\.(zip|snapshot|changelog|delta)$")
# 12.zip, 12.changelog, 12_ID.zip, 12_ID_BASE.changelog, 12.snapshot, 12.delta, each perhaps with a
# checksum beside it (.12.zip.crc of Hadoop, 12.zip.crc or 12.zip_....crc of Spark)
_VERSION = re.compile(r"^\.?(\d+)(_[^.]*)?\.(zip|changelog|snapshot|delta)(\W.*)?$")
_SNAPSHOT_SUFFIXES = ("zip", "snapshot")


def missing_file(checkpoint: Checkpoint) -> str | None:
    """Return the first file that is missing of a checkpoint on this computer; None if all are
    there.

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
    if len(archives) == 1:  # several are of attempts, and only the commit log knows whose is meant
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
        return  # loading it reports what is wrong
    for name, size in tables:
        file = folder / "SSTs" / name
        if not file.is_file() or file.stat().st_size != size:
            yield f"SSTs/{name}"


def version_of(name: str) -> int | None:
    """Return the version that a file of a store belongs to; None for any other file."""
    match = _VERSION.match(name)
    return int(match.group(1)) if match else None


def versions_from(names: Iterable[str], first: int) -> list[str]:
    """Return the files of a version and of all later ones."""
    return [name for name in names if (version_of(name) or -1) >= first]


def state_folders(location: str, files: FileSystem) -> Iterator[str]:
    """Yield the folders of every partition of every store."""
    state = f"{location}/state"
    for operator in filter(str.isdecimal, files.names(state)):
        for partition in filter(str.isdecimal, files.names(f"{state}/{operator}")):
            folder = f"{state}/{operator}/{partition}"
            names = files.names(folder)
            yield folder
            # Stores with a name of their own, those of joins, have folders of that name.
            yield from (f"{folder}/{name}" for name in names if _may_be_store(name))


def _may_be_store(name: str) -> bool:
    return "." not in name and name not in ("SSTs", "_metadata", "logs")


def operator_metadata(text: str, partitions: int) -> str:
    """Return the text of an operator's metadata with another number of partitions."""
    version, body = text.split("\n", 1)
    metadata = json.loads(body)
    for store in metadata["stateStoreInfo"]:
        store["numPartitions"] = partitions
    return f"{version}\n{json.dumps(metadata, separators=(',', ':'))}"
