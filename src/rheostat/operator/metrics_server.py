"""Serves ``external.metrics.k8s.io`` to the API server's aggregation layer, over TLS."""

from __future__ import annotations

import datetime as dt
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web

from rheostat.control.driver_report import Report
from rheostat.errors import RheostatError
from rheostat.operator.external_metrics import API, application_in, resources, values

Reports = Callable[[str, str], Awaitable[Report | None]]


def certificate(folder: Path, names: list[str]) -> tuple[Path, Path]:
    """Return a new self-signed certificate and its key; raises RheostatError without openssl."""
    cert, key = folder / "tls.crt", folder / "tls.key"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650"]
    command += ["-keyout", str(key), "-out", str(cert), "-subj", f"/CN={names[0]}"]
    command += ["-addext", "subjectAltName=" + ",".join(f"DNS:{name}" for name in names)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as fault:
        raise RheostatError(f"no certificate could be created with openssl: {fault}") from None
    return cert, key


def context(cert: Path, key: Path, client_ca: str | None) -> ssl.SSLContext:
    """Return the server's TLS context; with ``client_ca`` (PEM) it requires client certificates."""
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    made.load_cert_chain(cert, key)
    if client_ca:
        made.load_verify_locations(cadata=client_ca)
        made.verify_mode = ssl.CERT_REQUIRED
    return made


async def serve(host: str, port: int, tls: ssl.SSLContext, reports: Reports) -> web.AppRunner:
    """Start the server and return its runner; cleaning that up stops the server."""

    async def listed(_: web.Request) -> web.Response:
        return web.json_response(resources())

    async def metric(request: web.Request) -> web.Response:
        name = application_in(request.query.get("labelSelector", ""))
        if name is None:
            message = "the metric's selector must be matchLabels: {application: NAME}"
            body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message}
            return web.json_response({**body, "code": 400}, status=400)
        report = await reports(request.match_info["namespace"], name)
        now = dt.datetime.now(dt.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        return web.json_response(values(request.match_info["metric"], name, report, now))

    app = web.Application()
    app.router.add_get(f"/apis/{API}", listed)
    app.router.add_get(f"/apis/{API}/namespaces/{{namespace}}/{{metric}}", metric)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host, port, ssl_context=tls).start()
    return runner
