# mypy: disallow-untyped-calls=False
import asyncio

import pytest

from rheostat.control.driver_report import Report
from rheostat.control.sizing import Sizing
from rheostat.operator.fence import FencedCluster, FencedControlApis, NotLeading
from rheostat.operator.operator_ports import Endpoint

ENDPOINT = Endpoint(address="host:1")


class Kept:
    """A cluster and control APIs that record their requests."""

    def __init__(self):
        self.done = []

    def __getattr__(self, name):
        async def call(*given):
            self.done.append((name, given))
            return Report()

        return call


WRITES = [
    (FencedCluster, "write_status", ("ns", "etl", {})),
    (FencedCluster, "write_scale", ("ns", "etl", 3)),
    (FencedCluster, "start", ({},)),
    (FencedCluster, "stop", ("ns", "pod", "uid")),
    (FencedCluster, "tell", ({}, "Normal", "Sized", "")),
    (FencedControlApis, "direct", (ENDPOINT, Sizing())),
    (FencedControlApis, "drain", (ENDPOINT,)),
]


@pytest.mark.parametrize(("kind", "name", "given"), WRITES)
def test_who_does_not_lead_does_nothing(kind, name, given):
    kept = Kept()
    with pytest.raises(NotLeading):
        asyncio.run(getattr(kind(kept, lambda: False), name)(*given))
    assert kept.done == []


@pytest.mark.parametrize(("kind", "name", "given"), WRITES)
def test_who_leads_does_it(kind, name, given):
    kept = Kept()
    asyncio.run(getattr(kind(kept, lambda: True), name)(*given))
    assert kept.done == [(name, given)]


def test_anybody_may_ask():
    kept = Kept()
    asyncio.run(FencedControlApis(kept, lambda: False).ask(ENDPOINT))
    assert kept.done == [("ask", (ENDPOINT,))]
