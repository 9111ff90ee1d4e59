# mypy: disallow-untyped-calls=False
"""Commands speak TLS to a driver that serves with a certificate."""

import shutil
from urllib.error import HTTPError

import pytest

pytest.importorskip("uvicorn", reason="comes with the extra serve")
pytest.importorskip("aiohttp", reason="comes with the extra operator")

from tests.unit.control.test_server import server_service

from rheostat.cli.app import run
from rheostat.control.access import Access
from rheostat.control.control_app import control_app
from rheostat.control.driver_call import call_driver
from rheostat.control.driver_report import TOKEN_VARIABLE
from rheostat.control.jobs import DriverJob
from rheostat.control.server import Server
from rheostat.operator.metrics_server import certificate

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl")


@pytest.fixture
def driver(tmp_path):
    """A TLS server on loopback with tokens for writes and reads; yields address, CA, service."""
    cert, key = certificate(tmp_path, ["localhost"])
    service = server_service()
    app = control_app(service, Access("secret", "reader"), lambda: {"healthy": True})
    server = Server(app, "127.0.0.1", 0, tls=(str(cert), str(key)))
    yield f"https://localhost:{server.address.rpartition(':')[2]}", str(cert), service
    server.close()


def test_halt_resume_and_status_use_tls(driver, monkeypatch, capsys):
    address, authority, service = driver
    monkeypatch.setenv("SSL_CERT_FILE", authority)
    monkeypatch.setenv(TOKEN_VARIABLE, "secret")
    assert run(["halt", address]) == 0
    assert service._sized.halted
    assert run(["resume", f"{address}/"]) == 0
    assert not service._sized.halted
    assert call_driver(address, "overview", "reader") == {"healthy": True}
    with pytest.raises(HTTPError, match="read token is missing or wrong"):
        DriverJob(address, "wrong").overview()
    monkeypatch.setenv(TOKEN_VARIABLE, "wrong")
    assert run(["halt", address]) == 2
    assert "refuses: the token is missing or wrong" in capsys.readouterr().err
    assert not service._sized.halted


def test_an_untrusted_certificate_receives_no_token(driver, monkeypatch, capsys):
    address, _, service = driver
    monkeypatch.setenv(TOKEN_VARIABLE, "secret")
    assert run(["halt", address]) == 1
    assert "certificate verify failed" in capsys.readouterr().err
    assert run(["halt", address.replace("https", "http")]) == 1
    assert not service._sized.halted
    assert run(["status", address]) == 1
