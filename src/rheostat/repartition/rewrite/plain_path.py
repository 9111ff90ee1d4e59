"""Another name for a folder whose own name Spark's reader of state cannot take.

Spark 4.3 escapes the name of a checkpoint for its reader (``a b`` becomes ``a%20b``) and then looks
for a folder of the escaped name; source: ``StateSourceOptions``, tried. A link has a plain name.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from rheostat.repartition.checkpoints.checkpoint_files import is_local

_ESCAPED = re.compile(r"[^\w\-!.~'()*,;:$&+=/@]")
"""What may not stand in the path of a URI; letters and digits of all alphabets may."""


class PlainPaths:
    """Makes links in a temporary folder, which is deleted with this object."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._links: dict[str, str] = {}

    def of(self, location: str) -> str:
        """Return a name of the same folder without a character that would be escaped; the location
        itself where there is none in it, or where it is not on this computer.
        """
        if not is_local(location) or not _ESCAPED.search(location):
            return location
        if location not in self._links:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="rheostat-path-")
            link = Path(self._folder.name) / str(len(self._links))
            link.symlink_to(Path(location).absolute(), target_is_directory=True)
            self._links[location] = str(link)
        return self._links[location]
