"""A local object store for tests: an S3 server on loopback, the settings and JARs of Hadoop's
``s3a``, and the received requests.
"""

from __future__ import annotations

import importlib.util
import random
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from rheostat.local.spark_home import find_spark_home
from rheostat.machine import scratch_folder as folders
from rheostat.machine.free_ports import LOOPBACK
from rheostat.machine.ivy import cached_jars

try:
    from werkzeug.serving import WSGIRequestHandler, make_server
except ImportError:  # it comes with moto
    WSGIRequestHandler = object

needs_s3 = pytest.mark.skipif(
    importlib.util.find_spec("moto") is None,
    reason="no server of S3's protocol is installed; pip install 'moto[server]'",
)
BUCKET = "streams"
SDK = "2.35.4"
ACCELERATOR = "1.3.1"
"""Version of the AWS analytics accelerator that Hadoop 3.5.0 needs."""

_CONTROL = "/_faults/"
_PARTS = ("s3", "s3-transfer-manager", "sts", "apache-client", "netty-nio-client")
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def hadoop_version() -> str:
    """Return the version of Hadoop in this PySpark."""
    (api,) = (find_spark_home().folder / "jars").glob("hadoop-client-api-*.jar")
    return api.stem.rpartition("-")[2]


def s3a_jars() -> tuple[Path, ...]:
    """Return the JARs of ``s3a`` for the Hadoop of this PySpark, fetched by the first call."""
    hadoop = hadoop_version()
    aws = f'org="org.apache.hadoop" name="hadoop-aws" rev="{hadoop}"'
    lines = [f'<dependency {aws} conf="jars->default" transitive="false"/>']
    sdk = [f'org="software.amazon.awssdk" name="{part}" rev="{SDK}"' for part in _PARTS]
    reader = "software.amazon.s3.analyticsaccelerator"
    for named in (*sdk, f'org="{reader}" name="analyticsaccelerator-s3" rev="{ACCELERATOR}"'):
        # Spark provides Netty and logging itself.
        without = '<exclude org="io.netty"/><exclude org="org.slf4j"/>'
        lines.append(f'<dependency {named} conf="jars->default">{without}</dependency>')
    folder = folders.cache_folder() / "jars" / f"s3a-{hadoop}-{SDK}-{ACCELERATOR}"
    return cached_jars(folder, "s3a", "".join(lines))


def s3a_settings(url: str) -> dict[str, str]:
    """Return the settings that a session needs to reach the server at ``url``."""
    paths = ":".join(map(str, s3a_jars()))
    at = "spark.hadoop.fs.s3a"
    return {
        "spark.driver.extraClassPath": paths,
        "spark.executor.extraClassPath": paths,
        f"{at}.endpoint": url,
        f"{at}.endpoint.region": "us-east-1",
        f"{at}.path.style.access": "true",
        f"{at}.connection.ssl.enabled": "false",
        # Uploads by the AWS SDK's own transfer manager never end with this server.
        f"{at}.optimized.copy.from.local.enabled": "false",
        f"{at}.access.key": "nobody",
        f"{at}.secret.key": "nothing",
    }


class _Quiet(WSGIRequestHandler):  # type: ignore[misc]
    def log(self, *_: Any) -> None:
        """The store keeps its own log."""

    def connection_dropped(self, *_: Any) -> None:
        """Close the connection: the client of a lost response waits for that."""
        self.close_connection = True


@dataclass(kw_only=True)
class Faults:
    """What goes wrong, as shares of all requests: 503 SlowDown; a response that is lost after the
    request was carried out; one that comes too late for the client.
    """

    slow_down: float = 0.0
    lost: float = 0.0
    late: float = 0.0
    late_s: float = 3.0
    on_change: Callable[[str], None] | None = None
    """Called before a request that changes something is carried out, with its path."""


class ObjectStore:
    """A server of S3's protocol with one bucket, in this process."""

    location = f"s3a://{BUCKET}"
    rejection = (
        "application/xml",
        b"<Error><Code>AccessDenied</Code><Message>dead</Message></Error>",
    )

    def __init__(self) -> None:
        self.faults = Faults()
        self.changes = 0
        """Requests that changed something, since the last count."""
        self.dies_after: int | None = None
        """After so many of them every request is refused; None for never."""
        self.skewed = False
        """Whether every request is refused because of the client's clock."""
        self.log: list[tuple[str, str, int]] = []
        """Method, path with query, and time (Unix time in ns) of each request."""
        self.luck = random.Random(1)
        """Draws the faults."""
        self.server = make_server(LOOPBACK, 0, self._answer, True, request_handler=_Quiet)

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://{LOOPBACK}:{self.server.server_port}"

    @cached_property
    def _moto(self) -> Any:
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

        return DomainDispatcherApplication(create_backend_app)

    def carry_out(self, environ: Any, start: Any) -> Any:
        """Answer a request for which no fault was drawn."""
        return self._moto(environ, start)

    def create_bucket(self) -> None:
        """Create the bucket; whatever an earlier store of this process held is gone."""
        self.request("POST", "/moto-api/reset")
        self.request("PUT", f"/{BUCKET}")

    def request(self, method: str, path: str, body: bytes | None = None) -> None:
        """Send a request that is expected to succeed."""
        request = urllib.request.Request(f"{self.url}{path}", body, method=method)
        _DIRECT.open(request, timeout=60).close()

    def _answer(self, environ: Any, start: Any) -> Any:
        query = environ["QUERY_STRING"]
        path = unquote(environ["PATH_INFO"] + (f"?{query}" if query else ""))
        method = environ["REQUEST_METHOD"]
        if path.startswith(_CONTROL):
            return self._controlled(path.removeprefix(_CONTROL), start)
        if self.dies_after is not None and self.changes >= self.dies_after:
            kind, body = self.rejection
            start("403 Forbidden", [("Content-Type", kind)])
            return [body]
        if self.skewed:
            start("403 Forbidden", [("Content-Type", "application/xml")])
            return [b"<Error><Code>RequestTimeTooSkewed</Code><Message>clock</Message></Error>"]
        self.changes += method not in ("GET", "HEAD")
        self.log.append((method, path, time.time_ns()))
        faults, luck = self.faults, self.luck.random()
        if faults.on_change and method not in ("GET", "HEAD"):
            faults.on_change(path)
        if luck < faults.slow_down:
            start("503 Slow Down", [("Content-Type", "application/xml")])
            return [b"<Error><Code>SlowDown</Code><Message>Reduce your rate</Message></Error>"]
        answer = self.carry_out(environ, start)
        if luck < faults.slow_down + faults.lost:
            raise ConnectionResetError  # the server drops the connection
        if luck < faults.slow_down + faults.lost + faults.late:
            time.sleep(faults.late_s)
        return answer

    def _controlled(self, command: str, start: Any) -> list[bytes]:
        """Carry out a command of a test in another process: count, die-after-N, live, or
        faults-SHARE, for this share of slow-downs and as many lost responses.
        """
        before, self.changes = self.changes, 0
        after = command.removeprefix("die-after-")
        self.dies_after = int(after) if after.isdecimal() else None
        if command.startswith("faults-"):
            share = float(command.removeprefix("faults-"))
            self.faults.slow_down = self.faults.lost = share
        start("200 OK", [("Content-Type", "text/plain")])
        return [str(before).encode()]

    @property
    def settings(self) -> dict[str, str]:
        """The settings that a session needs to reach the server."""
        return s3a_settings(self.url)

    def requests(self, below: str, since: int = 0) -> Counter[str]:
        """Return the number of requests by kind for objects whose names begin with ``below``, from
        line ``since`` of the log on; listing requests count as LIST.
        """
        return Counter(
            "LIST" if "list-type" in path else method
            for method, path, _ in self.log[since:]
            if path.startswith(f"/{BUCKET}/{below}") or f"prefix={below}" in path
        )

    def lines(self) -> int:
        """Return the length of its log."""
        return len(self.log)


@contextmanager
def served(store: ObjectStore) -> Iterator[None]:
    """Serve a store with its bucket."""
    thread = threading.Thread(target=store.server.serve_forever, name="store", daemon=True)
    thread.start()
    try:
        store.create_bucket()
        store.log.clear()
        yield
    finally:
        store.server.shutdown()
        thread.join()
        store.server.server_close()


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """Run an empty store."""
    store = ObjectStore()
    with served(store):
        yield store
