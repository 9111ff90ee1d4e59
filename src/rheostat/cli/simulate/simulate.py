"""``rheostat simulate``: policies on simulated jobs, and how far the simulator can be believed."""

from __future__ import annotations

import typer

from rheostat.cli.simulate import simulate_bench, simulate_demand, simulate_queue, simulate_sweep

app = typer.Typer(
    no_args_is_help=True,
    help="Policies on simulated jobs: the production loop, unchanged, against a plant.",
)
app.command("sweep")(simulate_sweep.sweep)
app.command("demand")(simulate_demand.demand)
app.command("bench")(simulate_bench.bench)
app.command("queue")(simulate_queue.queue)
