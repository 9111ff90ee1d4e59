"""``rheostat cluster up|down``: a local Spark Standalone, YARN or Kubernetes cluster."""

from __future__ import annotations

from typing import Annotated

import typer

from rheostat.cli.output import AsJson, emit


def up(
    kind: Annotated[str, typer.Option(help="standalone, yarn or kubernetes.")] = "standalone",
    cores: Annotated[int, typer.Option(help="Executors of one core that it can hold.")] = 8,
    nodes: Annotated[
        int, typer.Option(help="Nodes that share the cores; a Standalone cluster has one.")
    ] = 1,
    port: Annotated[
        int | None,
        typer.Option(help="A Standalone master's port; default 7077, or a free one."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start the cluster, print its master and return; it runs until `rheostat cluster down`.

    For YARN and Kubernetes, the environment variables of a driver follow. The programs are
    downloaded (YARN, half a minute) or built (Kubernetes, about 8 minutes, with Go) at the first
    use and cached. Containers are processes of this machine.

    Example: rheostat cluster up --kind kubernetes --cores 8
    """
    from rheostat_lab.clusters import cluster_kinds

    def report(line: str) -> None:
        typer.echo(f"rheostat: {line}", err=True)

    cluster = cluster_kinds.up(kind, cores, nodes, port, report)

    def show() -> None:
        typer.echo(cluster.url)
        for name, value in cluster.environment.items():
            typer.echo(f"export {name}={value}")

    result = {
        "url": cluster.url,
        "cores": cores,
        "kind": kind,
        "environment": dict(cluster.environment),
    }
    emit(result, as_json, None, show)


def down(
    kind: Annotated[
        str | None,
        typer.Option(help="standalone, yarn or kubernetes; default: all running clusters."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """End the clusters that `rheostat cluster up` started, with all their executors.

    Example: rheostat cluster down
    """
    from rheostat_lab.clusters import cluster_kinds

    ended = cluster_kinds.down(kind)
    message = f"ended {', '.join(ended)}" if ended else "no cluster was running"
    emit({"ended": ", ".join(ended) or None}, as_json, None, lambda: typer.echo(message))
