"""Where state partitions of a simulated query live: on the executor that has them, until it leaves
or placement moves them.
"""

from __future__ import annotations

from collections.abc import Sequence

from rheostat.state.assignment import minimal_movement

NOBODY = -1


def rebalanced(owners: Sequence[int], executors: Sequence[int]) -> list[int]:
    """Return the executor of each partition by the assignment that places live state: even shares,
    as few moves as possible.
    """
    current = {("simulated", place): str(owner) for place, owner in enumerate(owners)}
    # The product's own assignment: what the simulator shows of moves is what a job would do.
    wanted = minimal_movement(current, [str(executor) for executor in executors])
    return [int(wanted["simulated", place]) for place in range(len(owners))]


def adopted(owners: Sequence[int], executors: Sequence[int]) -> list[int]:
    """Return the executor of each partition as Spark's locality has it: only those without one find
    one, where there are fewest.
    """
    held = {executor: owners.count(executor) for executor in executors}
    found = []
    for owner in owners:
        home = (
            owner
            if owner in held
            else min(executors, key=lambda executor: (held[executor], executor))
        )
        held[home] += owner not in held
        found.append(home)
    return found


def step(
    owners: Sequence[int], wanted: Sequence[int], living: Sequence[int], most: int
) -> list[int]:
    """Return the owners after at most ``most`` moves towards what is wanted; partitions of the dead
    must move and do not count.
    """
    moved = list(owners)
    for place, (owner, home) in enumerate(zip(owners, wanted, strict=True)):
        # The dead first and beyond the limit: their partitions are loaded anew in any case.
        if owner not in living:
            moved[place] = home
        elif owner != home and most > 0:
            moved[place] = home
            most -= 1
    return moved
