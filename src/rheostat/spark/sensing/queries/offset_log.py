"""Parses an entry of a checkpoint's offset log (Spark's ``OffsetSeqLog``)."""

from __future__ import annotations

import json

from rheostat.errors import BadInput


def entry_of(name: str, text: str) -> tuple[str, dict[str, str]]:
    """Return the format version of an entry and the settings that it records.

    Raises BadInput, with the ``name`` of the file, if the text is not an entry.
    """
    try:
        version, metadata, *_ = text.splitlines()
        return version, {key: str(value) for key, value in json.loads(metadata)["conf"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadInput(
            f"{name} is no entry of an offset log: its second line should be JSON with the query's"
            " conf"
        ) from None
