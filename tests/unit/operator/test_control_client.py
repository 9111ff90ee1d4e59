"""The operator calls drivers over TLS, each with its own token and its own CA."""

# mypy: disallow-untyped-calls=False

import asyncio
import shutil

import pytest

pytest.importorskip("aiohttp", reason="comes with the extra operator")
pytest.importorskip("uvicorn", reason="comes with the extra serve")

from tests.unit.control.test_server import server_service
from tests.unit.operator import virtual_time
from tests.unit.operator.test_controller import Agent, Api, body, pod

from rheostat.control.access import Access
from rheostat.control.control_app import control_app
from rheostat.control.server import Server
from rheostat.control.sizing import Sizing
from rheostat.operator.control_client import ControlClient
from rheostat.operator.controller import Controller
from rheostat.operator.metrics_server import certificate
from rheostat.operator.operator_ports import ApiError, Endpoint

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl")
NAME = "etl.n.svc"


@pytest.fixture
def driver(tmp_path):
    """A real TLS server with the token ``own`` and a certificate for ``NAME``, and its service."""
    cert, key = certificate(tmp_path, [NAME])
    service = server_service()
    app = control_app(service, Access("own"))
    server = Server(app, "127.0.0.1", 0, tls=(str(cert), str(key)))
    yield server, service, cert.read_text()
    server.close()


def send_size(endpoint, token="shared"):
    async def call():
        client = ControlClient(token)
        try:
            return await client.direct(endpoint, Sizing(mode="external", size=4))
        finally:
            await client.close()

    return asyncio.run(call())


def test_a_size_is_sent_over_tls_with_the_drivers_token(driver):
    server, service, ca = driver
    send_size(Endpoint(address=server.address, token="own", ca=ca, name=NAME))
    assert service.report().sizing.size == 4


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        ({"token": None}, "WrongToken"),
        ({"name": "other.n.svc"}, "NoTrust"),
        ({"ca": "another"}, "NoTrust"),
        ({"ca": "no certificate"}, "NoTrust"),
        ({"ca": None}, "NoAnswer"),
    ],
)
def test_an_untrusted_connection_changes_nothing(driver, tmp_path, overrides, reason):
    server, service, ca = driver
    if overrides.get("ca") == "another":
        (tmp_path / "other").mkdir()
        overrides = {"ca": certificate(tmp_path / "other", [NAME])[0].read_text()}
    endpoint = {"token": "own", "ca": ca, "name": NAME, **overrides}
    with pytest.raises(ApiError) as error:
        send_size(Endpoint(address=server.address, **endpoint))
    assert error.value.reason == reason
    assert service.report().sizing.size is None


def test_a_controller_reads_the_secret_of_a_resource_once():
    class SecretApi(Api):
        async def secret(self, namespace, name):
            self.done.append(("secret", namespace, name))
            return {"token": "own\n", "ca.crt": "PEM"}

    class RecordingAgent(Agent):
        endpoint: Endpoint | None = None

        async def ask(self, endpoint):
            self.endpoint = endpoint
            return self.report

    api, agent = SecretApi(), RecordingAgent()

    async def run():
        controller = Controller(api, agent, round_s=0.02)
        driver = {"selector": {"app": "etl"}, "secret": "etl-control", "controlPort": 9000}
        api.bodies["etl"] = body(replicas=2, driver=driver)
        controller.update_pod(pod())
        controller.update(dict(api.bodies["etl"]))
        await asyncio.sleep(0.2)
        controller.close()

    virtual_time.run(run())
    assert agent.endpoint == Endpoint(address="10.0.0.1:9000", token="own", ca="PEM", name=NAME)
    assert api.done.count(("secret", "n", "etl-control")) == 1
