"""Reads the settings that a local checkpoint has fixed for its query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.spark.sensing.progress import entry_of
from rheostat.spark.sensing.query_shape import CHANGELOG, SHUFFLE_PARTITIONS
from rheostat.storage.file_system import numbered
from rheostat.storage.local_files import LocalFileSystem


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A checkpoint: folder name, stored settings, and whether it has state."""

    name: str
    settings: Mapping[str, str]
    stateful: bool

    @property
    def state_partitions(self) -> int | None:
        """The number of state partitions; None without state or if it is not recorded."""
        kept = self.settings.get(SHUFFLE_PARTITIONS, "")
        return int(kept) if self.stateful and kept.isdecimal() else None


def read_checkpoint(folder: Path) -> Checkpoint:
    """Return the newest entry of the offset log (v1); raises BadInput without one."""
    files = LocalFileSystem()
    batches = numbered(files, str(folder / "offsets"))
    if not batches:
        raise BadInput(
            f"{folder} is not the checkpoint of a started query: it has no folder offsets with"
            " a batch in it"
        )
    newest = f"{folder}/offsets/{batches[-1]}"
    version, kept = entry_of(newest, files.read_text(newest) or "")
    if version != "v1":
        raise BadInput(f"{newest} has format {version!r}; v1 can be read")
    return Checkpoint(
        name=folder.name,
        settings={**_changelog(folder / "state"), **kept},
        stateful=(folder / "state").is_dir(),
    )


def _changelog(state: Path) -> dict[str, str]:
    """Return the changelog setting implied by the newest state file; empty if there is none."""
    newest = {
        kind: max((_version(path) for path in state.glob(f"*/*/**/*.{kind}")), default=-1)
        for kind in ("changelog", "zip")
    }
    if max(newest.values()) < 0:
        return {}
    return {CHANGELOG: str(newest["changelog"] >= newest["zip"]).lower()}


def _version(path: Path) -> int:
    """Return the version of ``12.zip`` or, with checkpoint format v2, of ``12_UUID.zip``."""
    digits = path.name.partition(".")[0].partition("_")[0]
    return int(digits) if digits.isdecimal() else -1
