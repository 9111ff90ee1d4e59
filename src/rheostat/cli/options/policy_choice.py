"""The policy that is named on a command line: ``--policy`` with its ``--set name=value``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from rheostat.cli.options.name_value_pairs import pairs
from rheostat.errors import BadInput
from rheostat.model import Slo
from rheostat.policies.registry import create


def chosen(
    policy: str,
    given: Sequence[str] | None,
    *,
    folder: Path | None = None,
    script: Path | None = None,
    slo: Slo | None = None,
) -> dict[str, str]:
    """Return the parameters of a policy as they are given, once the policy can be made of them.

    A policy of the user's own, ``module:Class``, is looked for in ``folder`` first (default: the
    current one), which stays on the path of Python's modules as it does when Python runs a script
    there. ``script`` is what will be run: a policy in it is refused, because to read it is to run
    it. Raises BadInput for an unknown policy and for parameters that it does not take.
    """
    beside(policy, folder or Path.cwd(), script)
    parameters = pairs(given or ())
    create(policy, parameters, slo)
    return parameters


def beside(policy: str, folder: Path, script: Path | None = None) -> None:
    """Let a policy of the user's own be found in ``folder``; raises BadInput for one that is in the
    script which will be run.
    """
    if ":" in policy:
        look_into(folder)
        _not_inside(script, policy)


def look_into(folder: Path) -> None:
    """Let modules be found in a folder, before all others."""
    if str(folder.resolve()) not in sys.path:
        sys.path.insert(0, str(folder.resolve()))


def _not_inside(script: Path | None, policy: str) -> None:
    module = policy.partition(":")[0]
    if script is None or "." in module or module in sys.modules:
        return
    spec = find_spec(module) if module else None
    if spec and spec.origin and Path(spec.origin).resolve() == script.resolve():
        raise BadInput(
            f"policy {policy!r} is in the script itself, which would be run to read it; put the"
            " class into a file of its own beside the script"
        )
