"""The policy that is named on a command line: ``--policy`` with its ``--set name=value``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rheostat.cli.options.name_value_pairs import pairs
from rheostat.model import Slo
from rheostat.policies.registry import create
from rheostat.policies.third_party import make_importable


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
    make_importable(policy, folder or Path.cwd(), script)
    parameters = pairs(given or ())
    create(policy, parameters, slo)
    return parameters
