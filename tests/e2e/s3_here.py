"""A local object store for tests: an S3 server on loopback, the settings and JARs of Hadoop's
``s3a``, and the received requests.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.e2e.drivers_elsewhere import until

from rheostat.local.spark_home import find_spark_home
from rheostat.machine import scratch_folder as folders
from rheostat.machine.free_ports import LOOPBACK, free_port
from rheostat.machine.ivy import cached_jars
from rheostat.machine.process import Child

needs_s3 = pytest.mark.skipif(
    importlib.util.find_spec("moto") is None,
    reason="no server of S3's protocol is installed; pip install 'moto[server]'",
)
BUCKET = "streams"
SDK = "2.35.4"
ACCELERATOR = "1.3.1"
"""Version of the AWS analytics accelerator that Hadoop 3.5.0 needs."""

_PARTS = ("s3", "s3-transfer-manager", "sts", "apache-client", "netty-nio-client")
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_REQUEST = re.compile(r'"(GET|HEAD|PUT|POST|DELETE) (\S+) HTTP/1\.1" (\d+)')


def s3a_jars() -> tuple[Path, ...]:
    """Return the JARs of ``s3a`` for the Hadoop of this PySpark, fetched by the first call."""
    jars = find_spark_home().folder / "jars"
    (api,) = jars.glob("hadoop-client-api-*.jar")
    hadoop = api.stem.rpartition("-")[2]
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


class ObjectStore:
    """An S3 server with one bucket."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.log = folder / "s3.log"

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def settings(self) -> dict[str, str]:
        """The settings that a session needs to reach the server."""
        paths = ":".join(map(str, s3a_jars()))
        at = "spark.hadoop.fs.s3a"
        return {
            "spark.driver.extraClassPath": paths,
            "spark.executor.extraClassPath": paths,
            f"{at}.endpoint": self.url,
            f"{at}.endpoint.region": "us-east-1",
            f"{at}.path.style.access": "true",
            f"{at}.connection.ssl.enabled": "false",
            # Uploads by the AWS SDK's own transfer manager never end with this server.
            f"{at}.optimized.copy.from.local.enabled": "false",
            f"{at}.access.key": "nobody",
            f"{at}.secret.key": "nothing",
        }

    def requests(self, below: str, since: int = 0) -> Counter[str]:
        """Return the number of requests by kind for objects whose names begin with ``below``, from
        line ``since`` of the log on; listing requests count as LIST.
        """
        found: Counter[str] = Counter()
        for line in self.log.read_text(errors="replace").splitlines()[since:]:
            asked = _REQUEST.search(line)
            what = unquote(asked[2]) if asked else ""
            if asked and (f"/{BUCKET}/{below}" in what or f"prefix={below}" in what):
                found["LIST" if "list-type" in what else asked[1]] += 1
        return found

    def lines(self) -> int:
        """Return the number of lines of its log."""
        return len(self.log.read_text(errors="replace").splitlines())


@contextmanager
def object_store(folder: Path) -> Iterator[ObjectStore]:
    """Run an object store."""
    store = ObjectStore(folder)
    words = [sys.executable, "-m", "moto.server", "-H", LOOPBACK, "-p", str(store.port)]

    def made() -> bool:
        with suppress(OSError):
            asked = urllib.request.Request(f"{store.url}/{BUCKET}", method="PUT")
            _DIRECT.open(asked, timeout=5).close()
            return True
        return False

    with Child(words, log=store.log) as child:
        until("an object store", lambda: made() or not child.alive)
        yield store
