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
    """Return the policy's parameters once it can be created; ``module:Class`` may be in ``folder``.

    Raises BadInput for an unknown policy, wrong parameters, and a policy inside ``script``.
    """
    make_importable(policy, folder or Path.cwd(), script)
    parameters = pairs(given or ())
    create(policy, parameters, slo)
    return parameters
