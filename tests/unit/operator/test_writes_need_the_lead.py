"""An operator that does not lead sends no write."""

# mypy: disallow-untyped-calls=False

import asyncio

import pytest

pytest.importorskip("aiohttp", reason="comes with the extra operator")
pytest.importorskip("kubernetes", reason="comes with the extra operator")

from rheostat.control.sizing import Sizing
from rheostat.operator.cluster_api import ApiCluster
from rheostat.operator.control_client import ControlClient
from rheostat.operator.operator_ports import ApiError, Endpoint, NotLeading

META = {"name": "etl", "namespace": "ns", "uid": "uid"}
NOWHERE = Endpoint(address="127.0.0.1:1")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write_status", ("ns", "etl", {})),
        ("write_scale", ("ns", "etl", 3)),
        ("start", ({"metadata": META},)),
        ("stop", ("ns", "pod", "uid")),
        ("tell", ({"metadata": META}, "Normal", "Sized", "")),
    ],
)
def test_only_a_leader_writes_to_the_cluster(name, arguments):
    with pytest.raises(NotLeading):
        asyncio.run(getattr(ApiCluster(lambda: False), name)(*arguments))


def driver_call(leads, name, *arguments):
    async def call():
        client = ControlClient(None, leads=lambda: leads)
        try:
            await getattr(client, name)(NOWHERE, *arguments)
        finally:
            await client.close()

    asyncio.run(call())


@pytest.mark.parametrize(("name", "arguments"), [("direct", (Sizing(),)), ("drain", ())])
def test_only_a_leader_writes_to_a_driver(name, arguments):
    with pytest.raises(NotLeading):
        driver_call(False, name, *arguments)
    with pytest.raises(ApiError):  # it is sent, but no driver answers
        driver_call(True, name, *arguments)


def test_an_operator_that_does_not_lead_may_read():
    with pytest.raises(ApiError):
        driver_call(False, "ask")
