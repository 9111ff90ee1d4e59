"""Google Cloud Storage for tests: fake-gcs-server behind the faults of ``s3_here``, and the
settings and JAR of Google's connector.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.drivers_elsewhere import until
from tests.e2e.s3_here import BUCKET, ObjectStore, needs_s3, object_store, served

from rheostat.machine.free_ports import LOOPBACK, free_port
from rheostat.machine.ivy import cached_jars
from rheostat.machine.scratch_folder import cache_folder

CONNECTOR = "3.1.9"
_PACKAGE = "com.google.cloud.hadoop.fs.gcs"
_NAME = "fake-gcs-server"
_PROGRAM = shutil.which(_NAME, path=f"{os.environ.get('PATH', '')}:{cache_folder() / _NAME}")
_HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length"})

needs_gcs = pytest.mark.skipif(
    _PROGRAM is None,
    reason=f"{_NAME} is not installed; GOBIN=~/.cache/rheostat/{_NAME} go install"
    f" github.com/fsouza/{_NAME}@v1.56.1",
)


def gcs_settings(url: str) -> dict[str, str]:
    """Return the settings with which Google's connector reaches the server at ``url``."""
    jar = str(_connector())
    at = "spark.hadoop.fs.gs"
    return {
        "spark.driver.extraClassPath": jar,
        "spark.executor.extraClassPath": jar,
        f"{at}.impl": f"{_PACKAGE}.GoogleHadoopFileSystem",
        "spark.hadoop.fs.AbstractFileSystem.gs.impl": f"{_PACKAGE}.GoogleHadoopFS",
        # Hadoop 3.5's own defaults have units, which Google's connector cannot parse.
        f"{at}.block.size": str(64 * 2**20),
        f"{at}.rewrite.max.chunk.size": str(512 * 2**20),
        f"{at}.outputstream.buffer.size": str(8 * 2**20),
        f"{at}.inputstream.inplace.seek.limit": str(8 * 2**20),
        f"{at}.inputstream.min.range.request.size": str(2 * 2**20),
        f"{at}.project.id": "test",
        f"{at}.auth.type": "UNAUTHENTICATED",
        f"{at}.storage.root.url": f"{url}/",
        # The server has no such request; the connector copies and deletes instead.
        f"{at}.operation.move.enable": "false",
    }


class GoogleStore(ObjectStore):
    """A server of the JSON API of Google Cloud Storage with one bucket."""

    location = f"gs://{BUCKET}"
    rejection = ("application/json", b'{"error": {"code": 403, "message": "dead"}}')

    @property
    def settings(self) -> dict[str, str]:
        """The settings that a session needs to reach the server."""
        return gcs_settings(self.url)

    def start(self) -> None:
        """Start fake-gcs-server, which names the address of this store in its answers."""
        self.port = free_port()
        self.uploaded: dict[str, tuple[str, list[tuple[str, str]], bytes]] = {}
        options = ["-backend=memory", "-scheme=http", f"-host={LOOPBACK}", f"-port={self.port}"]
        address = self.url.removeprefix("http://")
        self.process = subprocess.Popen(
            [str(_PROGRAM), *options, f"-public-host={address}", f"-external-url={self.url}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self) -> None:
        """End fake-gcs-server."""
        self.process.terminate()
        self.process.wait(30)

    def create_bucket(self) -> None:
        """Create the bucket, as soon as the server answers."""
        until("fake-gcs-server answers", self._answers)
        self.request("POST", "/storage/v1/b", json.dumps({"name": BUCKET}).encode())

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection((LOOPBACK, self.port), 1):
            return True
        return False

    def requests(self, below: str, since: int = 0) -> Counter[str]:
        """Return the number of requests by kind for objects whose names begin with ``below``, from
        line ``since`` of the log on; listing requests count as LIST.
        """
        named = (
            re.compile(rf"(/o/|[?&](name|prefix)=){re.escape(below)}") if below else re.compile("")
        )
        return Counter(
            "LIST" if method == "GET" and path.partition("?")[0].endswith("/o") else method
            for method, path, _ in self.log[since:]
            if named.search(path)
        )

    def carry_out(self, environ: Any, start: Any) -> list[bytes]:
        """Answer a request; of an interrupted upload its state, as Google documents it: the server
        would end such an upload with an empty object.
        """
        upload = re.search("upload_id=([0-9a-f]+)", environ["QUERY_STRING"])
        if not upload:
            status, headers, content = self._forwarded(environ)
        elif upload[1] in self.uploaded:
            status, headers, content = self.uploaded[upload[1]]
        elif re.match(r"bytes \*/(?!0$)", environ.get("HTTP_CONTENT_RANGE", "")):
            status, headers, content = "308 Resume Incomplete", [], b""
        else:
            status, headers, content = self._forwarded(environ)
            self.uploaded[upload[1]] = status, headers, content
        start(status, headers)
        return [content]

    def _forwarded(self, environ: Any) -> tuple[str, list[tuple[str, str]], bytes]:
        """Return the status, headers and body with which fake-gcs-server answers a request."""
        headers = {
            name.removeprefix("HTTP_").replace("_", "-"): value
            for name, value in environ.items()
            if name.startswith("HTTP_") and name != "HTTP_TRANSFER_ENCODING"
        }
        headers |= {"Content-Type": environ.get("CONTENT_TYPE") or "application/octet-stream"}
        is_chunked = "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "")
        length = -1 if is_chunked else int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length)
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=60)
        connection.request(environ["REQUEST_METHOD"], environ["REQUEST_URI"], body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        kept = [pair for pair in answer.getheaders() if pair[0].lower() not in _HOP_BY_HOP]
        size = answer.headers.get("Content-Length", str(len(content)))
        return f"{answer.status} {answer.reason}", [*kept, ("Content-Length", size)], content


@contextmanager
def google_store() -> Iterator[GoogleStore]:
    """Run an empty store."""
    store = GoogleStore()
    store.start()
    try:
        with served(store):
            yield store
    finally:
        store.stop()


RunStore = Callable[[], AbstractContextManager[ObjectStore]]
STORES = (
    pytest.param(object_store, id="s3a", marks=needs_s3),
    pytest.param(google_store, id="gs", marks=(needs_gcs, needs_s3)),
)
"""The object stores that a test should be run on; both need the web server that comes with moto."""


def _connector() -> Path:
    """Return the connector with its libraries in one JAR, fetched by the first call."""
    named = f'org="com.google.cloud.bigdataoss" name="gcs-connector" rev="{CONNECTOR}"'
    shaded = (
        '<artifact name="gcs-connector" type="jar" m:classifier="shaded"'
        ' xmlns:m="http://ant.apache.org/ivy/maven"/>'
    )
    dependency = (
        f'<dependency {named} conf="jars->default" transitive="false">{shaded}</dependency>'
    )
    (jar,) = cached_jars(cache_folder() / "jars" / f"gcs-{CONNECTOR}", "gs", dependency)
    return jar
