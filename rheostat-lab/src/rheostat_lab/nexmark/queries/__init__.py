"""The Nexmark queries that papers on scaling use, one file each: an explicit dict.

Each runs as a stream in append mode, with or without RocksDB; the benchmark's other queries are not
included.
"""

from __future__ import annotations

from collections.abc import Mapping

from rheostat.errors import BadInput
from rheostat_lab.nexmark.queries import q1, q2, q3, q5, q8, q11
from rheostat_lab.nexmark.queries.query import Query

QUERIES: Mapping[str, Query] = {
    module.QUERY.name: module.QUERY for module in (q1, q2, q3, q5, q8, q11)
}


def find_query(name: str) -> Query:
    """Return a query by its name; raises BadInput for an unknown one."""
    if name not in QUERIES:
        raise BadInput(f"there is no query {name!r}; there are {', '.join(QUERIES)}")
    return QUERIES[name]


def offered_queries() -> str:
    """Return the queries with their summaries in one line."""
    return ", ".join(f"{name} ({query.summary})" for name, query in QUERIES.items())
