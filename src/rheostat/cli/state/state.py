"""``rheostat state``: the state of a stopped query, and another number of partitions for it."""

from __future__ import annotations

import typer

from rheostat.cli.state import state_inspect, state_plan, state_repartition

app = typer.Typer(
    help="The state of a stopped query: inspect its checkpoint, change the number of its"
    " partitions.",
    no_args_is_help=True,
)
app.command("inspect")(state_inspect.inspect)
app.command("plan")(state_plan.plan)
app.command("repartition")(state_repartition.repartition)
app.command("undo")(state_repartition.undo)
app.command("repair")(state_repartition.repair)
