"""A day in a process of its own, by the command that a user would type."""

from __future__ import annotations

import sys
from pathlib import Path

from rheostat.errors import RheostatError
from rheostat.machine.process import Child
from rheostat_lab.demo.demo_options import Demo
from rheostat_lab.live.played_day import is_played

_LOOK_S = 3600.0


def play(demo: Demo, log: Path) -> None:
    """Play a day to its end; what it says goes to ``log``. Raises RheostatError where no summary
    came out of it. It ends with this process.
    """
    # A process a day: what the last one has warmed, cached or left behind favours nobody.
    with Child(command(demo), log=log) as child:
        while (code := child.wait(_LOOK_S)) is None:
            pass
    # 1 with a summary is a day whose output is not exact: that is a result.
    if not is_played(demo.out):
        raise RheostatError(f"ended with exit code {code} and without a summary; see {log}")


def command(demo: Demo) -> list[str]:
    """Return the command line of a day."""
    given = {
        "--query": demo.query,
        "--policy": demo.policy,
        "--seed": demo.seed,
        "--seconds": f"{demo.seconds:g}",
        "--peak": f"{demo.load.peak:g}",
        "--ramp-share": f"{demo.ramp_share:g}",
        "--cluster": demo.cluster,
        "--out": demo.out,
    }
    words = [word for name, value in given.items() for word in (name, str(value))]
    for name, value in demo.parameters.items():
        words += ["--set", f"{name}={value}"]
    return [sys.executable, "-m", "rheostat.cli", "demo", *words]
