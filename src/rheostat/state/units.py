"""What is moved between executors."""

from __future__ import annotations

from typing import TypeAlias

Unit: TypeAlias = tuple[str, int]
"""The run id of a query and a state partition: all stores of all stateful operators of that
partition, which move together."""
