"""The sizes that a cluster on this computer can have."""

from __future__ import annotations

from rheostat.errors import BadInput

# Cores are bookkeeping and cost nothing; this catches a typing error.
MOST_CORES = 10_000


def check_cores(cores: int) -> None:
    """Raise ``BadInput`` for a number of cores that no worker can have."""
    if cores < 1:
        raise BadInput(f"a cluster needs at least 1 core, but {cores} were requested")
    if cores > MOST_CORES:
        raise BadInput(f"a cluster here has at most {MOST_CORES} cores, but {cores} were requested")


def check_nodes(cores: int, nodes: int) -> None:
    """Raise ``BadInput`` for a number of nodes that cannot share the cores."""
    if not 1 <= nodes <= cores:
        raise BadInput(
            f"a cluster has 1 to as many nodes as it has cores ({cores}), but {nodes} were"
            " requested"
        )
