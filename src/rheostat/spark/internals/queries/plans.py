"""Physical plans of queries as trees: their parts, and which of them may be run again for nothing.

* Calls: ``StreamExecution.lastExecution``, ``SparkPlan.children``, ``TreeNode.containsPattern``.
* A plan with an operator that is not listed here is not run again.
* Spark 4.3.0 tried.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

_READING = frozenset(
    {
        "MicroBatchScan",
        "Project",
        "Filter",
        "EventTimeWatermark",
        "Sort",
        "SortAggregate",
        "HashAggregate",
        "ObjectHashAggregate",
        "MergingSessions",
        "Expand",
        "Union",
        "ColumnarToRow",
        "WholeStageCodegen",
        "InputAdapter",
    }
)
"""Operators that may be run again for nothing: Spark's own, without a function of the user's and
without an effect."""

RESTORING = frozenset({"StateStoreRestore", "SessionWindowStateStoreRestore"})
"""Operators that read state and do not write it."""

SAVING = frozenset({"StateStoreSave", "SessionWindowStateStoreSave"})
"""Operators that write what those below them have read and computed."""

_EXCHANGE = "Exchange"


def last_plan(query: Any) -> Any:
    """Return the physical plan of a query's last batch; raises Py4JError before the first."""
    return query._jsq.streamingQuery().lastExecution().executedPlan()


def named(plan: Any, names: Collection[str]) -> list[Any]:
    """Return the operators of these names."""
    operators = [operator for child in _children(plan) for operator in named(child, names)]
    return [plan, *operators] if str(plan.nodeName()) in names else operators


def below(plan: Any, names: Collection[str]) -> list[Any]:
    """Return the child of each operator of these names."""
    return [operator.child() for operator in named(plan, names)]


def reading_parts(plan: Any) -> list[Any]:
    """Return the parts of a plan below its lowest exchanges, which read the sources."""
    parts = [part for child in _children(plan) for part in reading_parts(child)]
    return parts or ([plan.child()] if str(plan.nodeName()) == _EXCHANGE else [])


def is_harmless(plan: Any, jvm: Any) -> bool:
    """Tell whether a plan up to its exchanges can be rerun: known operators, no user code."""
    patterns = jvm.org.apache.spark.sql.catalyst.trees.TreePattern
    of_users = (patterns.SCALA_UDF(), patterns.PYTHON_UDF())
    return not any(map(plan.containsPattern, of_users)) and _is_known(plan)


def _is_known(plan: Any) -> bool:
    # Some names end in a number, such as "WholeStageCodegen (2)".
    name = str(plan.nodeName()).partition(" ")[0]
    # An exchange ends the part: what lies below it is another stage, already written.
    return name == _EXCHANGE or (
        name in _READING | RESTORING and all(map(_is_known, _children(plan)))
    )


def _children(plan: Any) -> list[Any]:
    children = plan.children()
    return [children.apply(i) for i in range(children.size())]
