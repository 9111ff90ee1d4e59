"""The command line: one command a file; a user's mistake is one line and exit code 2."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit."""
    try:
        from rheostat.cli.app import run
    except ModuleNotFoundError as missing:
        print(f"rheostat: the command line needs {missing.name}; install it with: pip install 'rheostat[cli]'", file=sys.stderr)
        sys.exit(2)
    sys.exit(run(sys.argv[1:]))
