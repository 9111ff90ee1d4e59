"""``rheostat operator run|crd``: the Kubernetes operator, and its custom resource definition."""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from rheostat.errors import BadInput, RheostatError

app = typer.Typer(
    help="The Kubernetes operator of StreamingApplication resources.", no_args_is_help=True
)


@app.command()
def crd() -> None:
    """Print the custom resource definition, generated from the options.

    Example: rheostat operator crd | kubectl apply --filename -
    """
    import yaml

    from rheostat.operator.schema import definition

    typer.echo(yaml.safe_dump(definition(), sort_keys=False, width=98), nl=False)


@app.command()
def run(
    namespace: Annotated[
        list[str] | None, typer.Option(help="Namespaces to watch; default: all.")
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with the token for drivers that have no separate token."),
    ] = None,
    metrics: Annotated[
        str, typer.Option(help="HOST:PORT of external.metrics.k8s.io; empty: none.")
    ] = "0.0.0.0:6443",
    metrics_name: Annotated[
        list[str] | None, typer.Option(help="DNS names in its certificate.")
    ] = None,
    every: Annotated[
        float, typer.Option(help="Seconds between two reconciliations of an unchanged resource.")
    ] = 10.0,
    lease: Annotated[
        str, typer.Option(help="NAMESPACE/NAME of the lease for leader election; empty: none.")
    ] = "",
) -> None:
    """Reconcile StreamingApplication resources until a signal stops it; all jobs keep running.

    The cluster is that of the pod, or that of KUBECONFIG.

    Example: rheostat operator run --token-file /etc/rheostat/token
    """
    import kopf
    from kubernetes import config

    from rheostat.operator.handlers import OperatorConfig, registry_of
    from rheostat.operator.leadership import Leadership

    if not every > 0:
        raise BadInput(f"--every must be above 0 seconds, but it is {every:g}")
    names = tuple(metrics_name or ["rheostat-operator.rheostat.svc"])
    settings = OperatorConfig(
        token=_token(token_file), round_s=every, metrics=_address(metrics), names=names
    )
    place = _lease(lease) if lease else None
    try:
        config.load_config()
    except config.ConfigException as fault:
        raise BadInput(f"no cluster: not in a pod, and no usable KUBECONFIG: {fault}") from None
    me = f"{socket.gethostname()}-{os.getpid()}"
    led = Leadership(*place, me=me) if place else None
    if led:
        led.await_turn()
        settings = replace(settings, leads=led.leads)
    try:
        kopf.run(
            registry=registry_of(settings),
            identity=cast("Any", me),  # by default the user's name, which a container may lack
            standalone=True,
            clusterwide=not namespace,
            namespaces=namespace or (),
        )
    except kopf.LoginError as fault:
        raise RheostatError(f"the cluster refused the login: {fault}") from None
    finally:
        if led:
            led.release()


def _token(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get("RHEOSTAT_TOKEN") or None
    try:
        return file.read_text(encoding="utf-8").strip() or None
    except OSError as error:
        raise BadInput(f"the token file {file} cannot be read: {error.strerror}") from None


def _address(text: str) -> tuple[str, int] | None:
    if not text:
        return None
    host, _, port = text.rpartition(":")
    if not (host and port.isdecimal() and int(port) < 65_536):
        raise BadInput(f"--metrics must be HOST:PORT, such as 0.0.0.0:6443, but it is {text!r}")
    return host, int(port)


def _lease(text: str) -> tuple[str, str]:
    namespace, _, name = text.partition("/")
    if not (namespace and name):
        raise BadInput(f"--lease must be NAMESPACE/NAME, but it is {text!r}")
    return namespace, name
