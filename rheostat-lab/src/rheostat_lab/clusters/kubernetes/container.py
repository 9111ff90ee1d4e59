"""A container of a pod as a local process: its command, its variables, and its end."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from rheostat_lab.clusters.kubernetes.volumes import here

_EXECUTOR = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
_ARGUMENTS = {
    "--driver-url": "SPARK_DRIVER_URL",
    "--executor-id": "SPARK_EXECUTOR_ID",
    "--cores": "SPARK_EXECUTOR_CORES",
    "--app-id": "SPARK_APPLICATION_ID",
    "--hostname": "SPARK_EXECUTOR_POD_IP",
    "--resourceProfileId": "SPARK_RESOURCE_PROFILE_ID",
    "--podName": "SPARK_EXECUTOR_POD_NAME",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """The installations that the nodes use to run pods."""

    folder: Path
    spark_home: Path
    java: Path
    cores: int
    memory_mib: int
    names: str = ""
    """The JVM option for resolving the names of services."""


def environment(container: Any, ip: str, pod: Any) -> dict[str, str]:
    """Return the environment variables of a container, with references to the pod resolved."""
    known = {
        "status.podIP": ip,
        "metadata.name": pod.metadata.name,
        "metadata.namespace": pod.metadata.namespace,
    }
    variables: dict[str, str] = {}
    for variable in container.env or []:
        source = variable.value_from.field_ref if variable.value_from else None
        value = (
            known.get(source.field_path, "")
            if source
            else _expanded(variable.value or "", variables)
        )
        variables[variable.name] = value
    return variables


def _expanded(text: str, given: Mapping[str, str]) -> str:
    """Return a text with its variables expanded as in Kubernetes: ``$(NAME)`` if NAME is known,
    ``$$(NAME)`` as the text ``$(NAME)``.
    """
    return re.sub(
        r"\$\$|\$\(([^()]+)\)",
        lambda match: given.get(match[1], match[0]) if match[1] else "$",
        text,
    )


def command(
    container: Any,
    given: Mapping[str, str],
    means: Means,
    mounts: Mapping[str, Path] | None = None,
) -> list[str]:
    """Return the command of a container, with paths below ``mounts`` made local."""
    known = mounts or {}
    words = [here(_expanded(word, given), known) for word in container.args or []]
    if words[:1] == ["executor"]:
        return _executor(given, means)
    if words[:1] == ["driver"]:
        return _driver(words[1:], given, means)
    return [*(here(_expanded(word, given), known) for word in container.command or []), *words]


def jvm_options(container: Any, means: Means) -> dict[str, str]:
    """Return the variables of a driver with which its JVMs resolve the names of services."""
    drives = (container.args or [""])[0] == "driver"
    return {"JAVA_TOOL_OPTIONS": means.names} if drives and means.names else {}


def _executor(given: Mapping[str, str], means: Means) -> list[str]:
    numbered = [name for name in given if re.fullmatch(r"SPARK_JAVA_OPT_\d+", name)]
    options = [given[name] for name in sorted(numbered, key=lambda name: int(name.split("_")[-1]))]
    memory = given["SPARK_EXECUTOR_MEMORY"]
    own = [given[name] for name in ("SPARK_CLASSPATH",) if given.get(name)]
    class_path = ":".join([*own, f"{means.spark_home / 'jars'}/*"])
    arguments = [word for flag, name in _ARGUMENTS.items() for word in (flag, given[name])]
    heap = [*options, *([means.names] if means.names else []), f"-Xmx{memory}"]
    return [str(means.java), *heap, "-cp", class_path, _EXECUTOR, *arguments]


def _driver(words: Sequence[str], given: Mapping[str, str], means: Means) -> list[str]:
    address = given["SPARK_DRIVER_BIND_ADDRESS"]
    settings = (
        f"spark.driver.bindAddress={address}",
        f"spark.executorEnv.SPARK_DRIVER_POD_IP={address}",
    )
    confs = [word for setting in settings for word in ("--conf", setting)]
    submit = str(means.spark_home / "bin" / "spark-submit")
    return [submit, *confs, "--deploy-mode", "client", *words]


def decommissions(container: Any) -> bool:
    """Return whether the preStop hook of a container is that of Spark's image, which lets an
    executor end its tasks (SIGPWR).
    """
    hook = container.lifecycle and container.lifecycle.pre_stop
    words = hook._exec.command if hook and hook._exec else []  # noqa: SLF001
    return any("decom" in word for word in words)


def ask(process: subprocess.Popen[bytes], signal_: signal.Signals, deadline: float) -> None:
    """Send a signal to a running process and wait for its end until the deadline."""
    if process.poll() is None:
        process.send_signal(signal_)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.1, deadline - time.monotonic()))


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its descendants."""
    with contextlib.suppress(psutil.NoSuchProcess):
        parent = psutil.Process(process.pid)
        for member in (parent, *parent.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()


def address(number: int) -> str:
    """Return the address of a pod by its number, in 127.1.0.0/16: to Spark each is another host."""
    return f"127.1.{number // 250 % 250}.{1 + number % 250}"
