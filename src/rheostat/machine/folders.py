"""Where a user's files are kept between runs, as the XDG base directories have it."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return what can be made again: ``rheostat`` in XDG_CACHE_HOME, or in ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rheostat"


def state_folder() -> Path:
    """Return what is to stay: ``rheostat`` in XDG_STATE_HOME, or in ``~/.local/state``."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "rheostat"
