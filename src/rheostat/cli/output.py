"""What ``--out FILE`` writes: the lines that ``--json`` prints."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rheostat.errors import BadInput


def write_out(path: Path, lines: Iterable[str]) -> None:
    """Write the lines to a file beside it and put it in its place when all are there; raises BadInput where that cannot be."""
    fresh = path.with_name(path.name + ".part")
    try:
        with fresh.open("w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
        fresh.replace(path)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}") from None
    finally:
        fresh.unlink(missing_ok=True)
