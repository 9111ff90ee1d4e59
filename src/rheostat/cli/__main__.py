"""``python -m rheostat.cli``: the command line if its program is not on the path."""

from __future__ import annotations

from rheostat.cli import main

if __name__ == "__main__":
    main()
