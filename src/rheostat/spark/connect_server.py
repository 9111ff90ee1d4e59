"""A Spark Connect server, autoscaled for the queries of all its clients: its address, and the
script of ``rheostat connect-server``, in whose session Spark's own plugin starts the server.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from rheostat.clusters.scaling_settings import Wanted
from rheostat.errors import BadInput

SCRIPT = Path(__file__)
PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"
_WHY = "where clients of Spark Connect find the server"


@dataclass(frozen=True, slots=True)
class Address:
    """A host name of this computer and a port."""

    host: str = "127.0.0.1"
    port: int = 15002

    @classmethod
    def of(cls, text: str) -> Address:
        """Return the address of ``PORT`` or ``HOST:PORT``; raises BadInput for another text."""
        host, _, port = text.rpartition(":")
        if not (port.isdecimal() and 0 < int(port) < 65_536):
            raise BadInput(
                f"the address of a Spark Connect server must be a port or HOST:PORT, such as 15002"
                f" or 0.0.0.0:15002, but it is {text!r}"
            )
        return cls(host or cls().host, int(port))

    @property
    def wanted(self) -> dict[str, Wanted]:
        """The required settings of the application."""
        return {
            "spark.plugins": Wanted(PLUGIN, "starts the server in the driver", joins=","),
            "spark.connect.grpc.binding.address": Wanted(self.host, _WHY),
            "spark.connect.grpc.binding.port": Wanted(str(self.port), _WHY),
        }


_POLL_S = 1.0


def serve() -> None:
    """Print the address of the server and wait for the end of the application."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    conf, context = spark.sparkContext.getConf(), spark.sparkContext
    address = (conf.get(f"spark.connect.grpc.binding.{part}", "") for part in ("address", "port"))
    print(f"Spark Connect: sc://{':'.join(address)}", flush=True)  # noqa: T201
    while context.applicationId and SparkSession.getActiveSession() is not None:
        time.sleep(_POLL_S)


if __name__ == "__main__":
    serve()
