"""The command line gives the logger a handler of its own; every test puts it back."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def logger_as_it_was() -> Iterator[None]:
    rheostat = logging.getLogger("rheostat")
    kept = list(rheostat.handlers), rheostat.level, rheostat.propagate
    yield
    rheostat.handlers, rheostat.propagate = kept[0], kept[2]
    rheostat.setLevel(kept[1])
