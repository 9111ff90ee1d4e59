"""An entry of the offset log of a checkpoint (Spark's ``OffsetSeqLog``), read as text."""

from __future__ import annotations

import json

from rheostat.errors import BadInput


def entry_of(name: str, text: str) -> tuple[str, dict[str, str]]:
    """Return the format of an entry and the settings that its query keeps; raises BadInput, with
    the ``name`` of the file, for what is none.
    """
    try:
        version, metadata, *_ = text.splitlines()
        return version, {key: str(value) for key, value in json.loads(metadata)["conf"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(
            f"{name} is no entry of an offset log: its second line should be JSON with the query's"
            " conf"
        ) from None
