"""The required size and its cause, as the reasons of policies state them."""

from __future__ import annotations

from rheostat.plural import counted


def needed(executors: int, rows_per_s: float, per_executor: float | None) -> str:
    """Return the required size and its cause: ``9 executors needed for 1,399 rows/s at 155 rows/s
    an executor``; only the load if the throughput is unknown.
    """
    load = f"{rows_per_s:,.0f} rows/s"
    if not per_executor:
        return f"{load}, and no throughput was measured yet"
    least = counted(executors, "executor")
    return f"{least} needed for {load} at {per_executor:,.0f} rows/s an executor"


def settled(size: int, executors: int, target: int, lagging: bool) -> str:
    """Return why ``target`` differs from the required number ``executors``; empty if it does not,
    or if the size shrinks.
    """
    if target == executors or target < size:
        return ""
    if lagging and target > size:
        return "; one more than there are, because lag rises all the same"
    if lagging:
        return "; none leaves while there is lag"
    if target == size:
        return "; none is added without lag"
    return f"; {counted(target, 'executor')} at most before a throughput was measured"
