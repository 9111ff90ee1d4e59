"""What all tests share: property tests draw the same examples each time (new ones in `make
thorough`), no test leaves a changed logger."""

import logging
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("searching", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture(autouse=True)
def logger_as_it_was() -> Iterator[None]:
    """The command line gives the logger a handler of its own; every test puts it back."""
    rheostat = logging.getLogger("rheostat")
    kept = list(rheostat.handlers), rheostat.level, rheostat.propagate
    yield
    rheostat.handlers, rheostat.propagate = kept[0], kept[2]
    rheostat.setLevel(kept[1])
