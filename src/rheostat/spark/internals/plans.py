"""Physical plans of queries as trees: their operators, and which parts can be rerun safely; and the
sources and shuffles of a streaming DataFrame that is not running.

* Calls: ``StreamExecution.lastExecution``, ``SparkPlan.children``, ``TreeNode.containsPattern``,
  ``QueryExecution.analyzed``, ``StreamingRelationV2.sourceName`` and ``extraOptions``,
  ``PythonSQLUtils.explainString``.
* A plan with an operator that is not listed here is not rerun.
* Spark 4.3.0 tried.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from rheostat.spark.internals.gateway import items

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
"""Operators that can be rerun safely: Spark's own, without user functions and side effects."""

RESTORING = frozenset({"StateStoreRestore", "SessionWindowStateStoreRestore"})
"""Operators that read state without writing it."""

SAVING = frozenset({"StateStoreSave", "SessionWindowStateStoreSave"})
"""Operators that write the state that their inputs have read and computed."""

_EXCHANGE = "Exchange"
_SHUFFLE = re.compile(r"(?<!\w)Exchange (?:SinglePartition|\w+\((?:.*, )?(\d+)\))")
_KAFKA_OPTIONS = ("subscribe", "assign", "subscribePattern", "kafka.bootstrap.servers")


def stream_sources(frame: Any) -> list[dict[str, str]]:
    """Return each source's ``format``, and Kafka's options that name topics and brokers."""
    sources = []
    for leaf in items(frame._jdf.queryExecution().analyzed().collectLeaves()):
        # Tables that the query joins are leaves, too.
        if not leaf.isStreaming():
            continue
        if str(leaf.nodeName()) != "StreamingRelationV2":
            sources.append({"format": str(leaf.nodeName())})
            continue
        options = {name: leaf.extraOptions().get(name) for name in _KAFKA_OPTIONS}
        given = {name: str(value) for name, value in options.items() if value is not None}
        sources.append({"format": str(leaf.sourceName()), **given})
    return sources


def explained(spark: Any, frame: Any) -> str:
    """Return the physical plan of a DataFrame as text."""
    sql = spark.sparkContext._jvm.PythonSQLUtils
    return str(sql.explainString(frame._jdf.queryExecution(), "simple"))


def shuffle_partitions(plan: str) -> tuple[int, ...]:
    """Return the number of partitions of each shuffle in the text of a physical plan."""
    return tuple(int(count or 1) for count in _SHUFFLE.findall(plan))


def last_plan(query: Any) -> Any:
    """Return the physical plan of a query's last batch; raises Py4JError before the first."""
    return query._jsq.streamingQuery().lastExecution().executedPlan()


def named(plan: Any, names: Collection[str]) -> list[Any]:
    """Return the operators with one of these names."""
    operators = [operator for child in items(plan.children()) for operator in named(child, names)]
    return [plan, *operators] if str(plan.nodeName()) in names else operators


def below(plan: Any, names: Collection[str]) -> list[Any]:
    """Return the child of each operator with one of these names."""
    return [operator.child() for operator in named(plan, names)]


def reading_parts(plan: Any) -> list[Any]:
    """Return the subplans below the lowest exchanges, which read the sources."""
    parts = [part for child in items(plan.children()) for part in reading_parts(child)]
    return parts or ([plan.child()] if str(plan.nodeName()) == _EXCHANGE else [])


def is_harmless(plan: Any, jvm: Any) -> bool:
    """Return whether a plan up to its exchanges can be rerun: known operators, no user code."""
    patterns = jvm.org.apache.spark.sql.catalyst.trees.TreePattern
    of_users = (patterns.SCALA_UDF(), patterns.PYTHON_UDF())
    return not any(map(plan.containsPattern, of_users)) and _is_known(plan)


def _is_known(plan: Any) -> bool:
    # Some names end in a number, such as "WholeStageCodegen (2)".
    name = str(plan.nodeName()).partition(" ")[0]
    # An exchange ends the subplan: its input is another stage, which has already been written.
    return name == _EXCHANGE or (
        name in _READING | RESTORING and all(map(_is_known, items(plan.children())))
    )
