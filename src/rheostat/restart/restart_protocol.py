"""The protocol of a restart as one table: drain, stop, repartition the state if required,
start at the new size.

Source: Varga, Balassi, Kiss 2021, section 3.2 (snapshot, stop, start at the new size). Spark's
snapshot is the checkpoint of the last committed batch, so draining is to end a batch.
"""

from __future__ import annotations

from rheostat.protocols.transition_table import Table, Transition

EVENTS = {
    "none": "this supervisor has started no process: an earlier one has ended, with its job",
    "left": "the process that was started has ended",
    "works": "the process has ended a first batch",
    "due": "another size is wanted, the pause after the last restart is over, the window is open",
    "drained": "all queries have been stopped after a batch",
    "late": "the phase lasts longer than it may",
    "hopeless": "the planned batch was not committed, by as many attempts as are made",
    "undrained": "other state partitions are wanted, and a batch is planned and not committed",
    "unlike": "a checkpoint has another number of state partitions than is wanted",
    "like": "every checkpoint has the state partitions that are wanted",
    "refused": "the state could not be repartitioned; the checkpoint is as it was before",
    "ready": "the state needs no further step before the start",
}
"""What every event means."""

ORDERS = {
    "Start": "start the script with the executors that are wanted",
    "Drain": "ask the process to stop its queries after their batches",
    "Stop": "end the process: SIGTERM, after a grace period SIGKILL",
    "Finish": "start the script for one batch of each query, which commits a planned batch",
    "Repartition": "repartition the state of every checkpoint that is unlike, each row verified",
}
"""What every order does; each may be given again after a crash."""

RESTART = Table(
    start="stopped",
    end="ended",
    transitions=(
        Transition("stopped", "hopeless", "starting", "Start"),
        Transition("stopped", "undrained", "finishing", "Finish"),
        Transition("stopped", "unlike", "repartitioning", "Repartition"),
        Transition("stopped", "ready", "starting", "Start"),
        Transition("finishing", "none", "stopped"),
        Transition("finishing", "left", "stopped"),
        Transition("finishing", "drained", "stopping"),
        Transition("finishing", "late", "stopping"),
        Transition("repartitioning", "like", "stopped"),
        Transition("repartitioning", "refused", "stopped"),
        Transition("repartitioning", "unlike", "repartitioning", "Repartition"),
        Transition("starting", "none", "stopped"),
        Transition("starting", "left", "ended"),
        Transition("starting", "works", "running"),
        Transition("running", "none", "stopped"),
        Transition("running", "left", "ended"),
        Transition("running", "due", "draining", "Drain"),
        Transition("draining", "none", "stopped"),
        Transition("draining", "left", "stopped"),
        Transition("draining", "drained", "stopping"),
        Transition("draining", "late", "stopping"),
        Transition("stopping", "none", "stopped"),
        Transition("stopping", "left", "stopped"),
        Transition("stopping", "late", "stopping", "Stop"),
    ),
)
"""Every phase, event and order of a restart; checked when it is loaded."""
