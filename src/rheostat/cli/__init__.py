"""The command line: one module per command; a user's mistake gives one line and exit code 2."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit."""
    try:
        from rheostat.cli.app import run
    except ModuleNotFoundError as missing:
        from rheostat.machine.missing_module import advice

        print(f"rheostat: {advice(missing.name or str(missing))}", file=sys.stderr)
        sys.exit(2)
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has closed the pipe: discard the rest
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or 141
    sys.exit(code)
