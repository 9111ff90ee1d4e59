"""The JVM of this process's Spark driver, ended for certain.

It ends by itself when the Python process has gone, but a second later, so that it still writes into
folders that are gone; and one that was being started when a signal came never does, because its
main thread has failed and others wait for a connection.
"""

from __future__ import annotations

import signal
from contextlib import suppress

import psutil

_PROGRAMS = ("org.apache.spark.deploy.SparkSubmit", "spark-submit")
_GRACE_S = 8.0


def end_driver() -> None:
    """End the JVMs that PySpark has started in this process (SIGTERM, after 8 s SIGKILL).

    To be called when no session is needed any more: PySpark cannot start another one after it.
    """
    doomed = [
        process
        for child in psutil.Process().children()
        if _is_driver(child)
        for process in (child, *child.children(recursive=True))
    ]
    for signal_ in (signal.SIGTERM, signal.SIGKILL):
        for process in doomed:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal_)
        _, doomed = psutil.wait_procs(doomed, timeout=_GRACE_S)


def _is_driver(process: psutil.Process) -> bool:
    try:
        words = process.cmdline()
    except psutil.Error:
        return False
    return any(word.endswith(_PROGRAMS) for word in words)
