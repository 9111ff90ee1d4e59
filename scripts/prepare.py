"""Run the setup steps that need Rheostat: ``prepare.py java`` locates Java, ``prepare.py jars``
downloads the JARs.

``java`` needs no installed package. If a step fails, it prints one message and exits with code 2.
"""

from __future__ import annotations

import sys

from rheostat.errors import RheostatError
from rheostat.kafka.jars import source_jars
from rheostat.machine.jdk import find_jdk


def java() -> str:
    """Find a Java 17 or 21 and print its location."""
    jdk = find_jdk()
    return f"Java {jdk.version} in {jdk.home}"


def jars() -> str:
    """Download the JARs of Spark's Kafka source and of a Kafka broker unless they are cached."""
    from rheostat_lab.services.broker_jars import broker_jars

    broker, source = broker_jars(), source_jars()
    return (
        source.note
        or f"{len(broker)} JARs of the Kafka broker, {len(source.paths)} of Spark's Kafka source {source.version}"
    )


def main() -> int:
    """Run the step that the first argument names."""
    try:
        sys.stdout.write(f"setup: {java() if sys.argv[1:] == ['java'] else jars()}\n")
    except RheostatError as error:
        sys.stderr.write(f"setup: {error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
