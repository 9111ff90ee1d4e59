"""A server of S3's protocol that keeps objects as files: versitygw, in a process of its own.

It answers hundreds of requests per second; the server in ``s3_here`` is slower and injects faults.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.s3_here import BUCKET

from rheostat.errors import BadInput, RheostatError
from rheostat.machine.free_ports import LOOPBACK, free_port
from rheostat.machine.scratch_folder import cache_folder

START_S = 30.0
_NAME = "versitygw"
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class Gateway:
    """A running server; ``access_log`` has a line for each request."""

    url: str
    access_log: Path

    def requests(self) -> int:
        """Return the number of requests so far."""
        with self.access_log.open("rb") as lines:
            return sum(1 for _ in lines)


@contextmanager
def gateway(folder: Path) -> Iterator[Gateway]:
    """Run a server with the bucket ``BUCKET`` in an empty folder, whose file system has extended
    attributes; raises ``BadInput`` if the program is not installed.
    """
    program = shutil.which(_NAME, path=f"{os.environ.get('PATH', '')}:{cache_folder() / _NAME}")
    if program is None:
        raise BadInput(
            f"{_NAME} is not installed: GOBIN=~/.cache/rheostat/{_NAME} go install"
            f" github.com/versity/{_NAME}/cmd/{_NAME}@v1.8.0"
        )
    (folder / "objects" / BUCKET).mkdir(parents=True)
    server = Gateway(f"http://{LOOPBACK}:{free_port()}", folder / "requests.log")
    address = server.url.removeprefix("http://")
    options = [f"--port={address}", f"--access-log={server.access_log}", "--keep-alive", "--quiet"]
    process = subprocess.Popen(
        [program, *options, "posix", str(folder / "objects")],
        env={**os.environ, "ROOT_ACCESS_KEY": "nobody", "ROOT_SECRET_KEY": "nothing"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await_answer(server.url, process)
        yield server
    finally:
        process.terminate()
        process.wait(30)


def _await_answer(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until the server answers, even if it refuses."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            _DIRECT.open(url, timeout=START_S).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise RheostatError(f"{_NAME} does not answer at {url}")
