"""The supervisor follows its table, stores nothing but its log, and repeats or loses no step."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from tests.unit.protocols.recording_table import RecordingTable
from tests.unit.restart.in_memory import MemoryJob, MemoryStates

from rheostat.config import RestartOptions
from rheostat.journal.control_channel import LOOP, PERSON, ControlChannel, Order, RestartRequest
from rheostat.protocols.restart import RESTART
from rheostat.restart.restart_state import FILE, RestartLog, RestartState, restart_text
from rheostat.restart.supervisor import Supervisor

CHECKPOINT = "/cp"


def options_of(restart_pause_s: float = 0.0, **more: Any) -> RestartOptions:
    return RestartOptions(actuator="restart", restart_pause_s=restart_pause_s, **more)


def repartitioning(window: str) -> RestartOptions:
    return options_of(allow_repartition=True, maintenance_window=window)


class Killed(BaseException):
    """Replaces a kill of the supervisor at this point."""


class World:
    """A job, its state and a clock, for one supervisor after another."""

    def __init__(
        self, folder: Path, partitions: int = 4, options: RestartOptions | None = None
    ) -> None:
        self.folder = folder
        self.now = 1000.0
        self.channel = ControlChannel(folder)
        self.states = MemoryStates({CHECKPOINT: partitions})
        self.sinks: dict[str, str] = {}
        self.options = options or options_of()
        self.phases: list[str] = []
        self.killed_at = -1
        self.steps = 0
        self.supervise(RestartState(executors=1))

    def supervise(self, state: RestartState | None = None) -> None:
        checkpoints = tuple(self.states.by_checkpoint)
        self.job = MemoryJob(self.channel, checkpoints=checkpoints, sinks=self.sinks)
        self.restart_log = RestartLog(self.folder)
        self.supervisor = Supervisor(
            state=state or self.restart_log.last() or RestartState(executors=1),
            channel=self.channel,
            journal=self.restart_log,
            job=cast("Any", self.job),
            states=cast("Any", self.states),
            options=self.options,
            clock=lambda: self.now,
            on_step=self._note,
        )

    def _note(self, state: RestartState) -> None:
        self.phases.append(state.phase)
        self.steps += 1
        if self.steps == self.killed_at:
            raise Killed

    def go(self, steps: int = 30) -> RestartState:
        for _ in range(steps):
            self.job.go_on(self.now)
            self.now += 1
            self.supervisor.step()
        return self.supervisor.state

    def request(self, by: str = PERSON, **values: int) -> None:
        run = self.supervisor.state.run if by == LOOP else None
        self.channel.write_request(
            by, RestartRequest(t_s=self.now, reason="more rows", run=run, **values)
        )


def started_world(folder: Path) -> World:
    world = World(folder)
    assert world.go().phase == "running"
    world.phases.clear()
    return world


@pytest.fixture
def world(tmp_path: Path) -> World:
    return started_world(tmp_path)


def test_a_new_executor_count_drains_stops_and_starts_the_job(world: World) -> None:
    world.request(executors=3)
    state = world.go()
    assert world.phases == ["draining", "stopped", "starting", "running"]
    assert world.job.orders[-1] == Order(run=2, executors=3)
    assert (state.executors_before, state.executors, state.restarts) == (1, 3, 1)
    assert world.states.repartitioned == []


def test_state_partitions_are_repartitioned_between_stop_and_start(world: World) -> None:
    world.request(executors=2, partitions=8)
    state = world.go()
    assert world.phases == [
        "draining", "stopped", "repartitioning", "stopped", "starting", "running",
    ]  # fmt: skip
    assert world.states.by_checkpoint == {CHECKPOINT: 8}
    assert (state.partitions_before, state.partitions) == (4, 8)


def test_a_planned_batch_is_committed_before_the_state_is_repartitioned(world: World) -> None:
    world.states.planned = {CHECKPOINT}
    world.request(partitions=8)
    world.go(3)
    assert world.phases[-1] == "finishing"
    world.states.planned.clear()
    world.go()
    assert world.job.orders[-2] == Order(run=2, executors=1, once=True)
    assert world.states.by_checkpoint == {CHECKPOINT: 8}


def test_the_sink_is_passed_after_a_process_that_only_commits_a_batch(
    tmp_path: Path,
) -> None:
    world = World(tmp_path)
    world.sinks[CHECKPOINT] = "/out"
    world.go()
    world.states.planned = {CHECKPOINT}
    world.request(partitions=8)
    world.go(3)
    assert world.phases[-1] == "finishing"
    world.states.planned.clear()
    world.sinks.clear()  # its batch had ended before the observation
    world.go()
    assert world.states.repartitioned == [(CHECKPOINT, 8, "/out")]


def test_every_checkpoint_gets_the_requested_number_of_partitions(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.states.by_checkpoint["/other"] = 200
    world.supervise()
    world.go()
    world.request(partitions=4)
    state = world.go()
    assert (state.phase, state.restarts, state.partitions_before) == ("running", 1, 200)
    assert world.states.by_checkpoint == {CHECKPOINT: 4, "/other": 4}
    world.request(partitions=4)
    assert world.go().restarts == 1


def test_the_loop_reduces_no_partitions_of_an_unbound_query(tmp_path: Path) -> None:
    world = World(tmp_path, 1, repartitioning("00:00-24:00"))
    world.states.by_checkpoint["/other"] = 200
    world.supervise()
    world.go()
    world.request(LOOP, partitions=2)
    state = world.go()
    assert (state.phase, state.partitions_before, state.partitions) == ("running", 1, 2)
    assert world.states.by_checkpoint == {CHECKPOINT: 2, "/other": 200}


def test_an_uncommitted_batch_leaves_the_state_and_the_job_starts(
    world: World,
) -> None:
    world.states.planned = {CHECKPOINT}
    world.request(executors=2, partitions=8)
    state = world.go()
    assert state.phase == "running"
    assert [order.once for order in world.job.orders] == [False, True, True, False]
    assert world.states.repartitioned == []
    assert "planned" in state.refusal


def test_a_refused_repartition_is_reported_and_the_job_starts_at_its_new_size(world: World) -> None:
    world.states.refusal = "limit cannot be repartitioned"
    world.request(executors=2, partitions=8)
    state = world.go()
    assert (state.phase, state.executors) == ("running", 2)
    assert "the state was not repartitioned: limit cannot be repartitioned" in restart_text(state)


def test_a_script_that_outlives_its_queries_is_stopped(world: World) -> None:
    world.job.stays = True
    world.request(executors=2)
    world.go()
    assert world.phases == ["draining", "stopping", "stopping", "stopped", "starting", "running"]


def test_a_query_that_does_not_drain_is_stopped_after_the_limit(tmp_path: Path) -> None:
    world = World(tmp_path, options=options_of(drain_limit_s=10))
    world.go()
    world.job.hangs = True
    world.request(executors=2)
    began_s = world.now
    assert world.go(40).executors == 2
    assert world.restart_log.restarts()[0].spent_s["draining"] > 10
    assert world.now > began_s


def test_a_job_that_ends_by_itself_ends_its_supervisor_with_its_exit_code(world: World) -> None:
    world.job.code = 3
    world.job.stop()
    assert world.supervisor.run(sleep=lambda _: None) == 3
    assert world.phases == ["ended"]


def test_downtime_runs_from_the_last_query_end_to_the_first_batch(world: World) -> None:
    world.request(executors=2)
    state = world.go()
    assert state.down_s == 2.0  # the clock advances by a second per step: stopped, starting
    assert list(state.spent_s) == ["draining", "stopped", "starting"]
    assert "restart 1: 1 -> 2 executors: downtime 2.0 s (draining" in restart_text(state)


def test_only_requests_of_the_loop_wait_for_the_pause(tmp_path: Path) -> None:
    world = World(tmp_path, options=options_of(restart_pause_s=100))
    world.go(5)
    world.request(LOOP, executors=2)
    assert world.go(10).executors == 1
    world.request(PERSON, executors=3)
    assert world.go(10).executors == 3
    world.request(LOOP, executors=2)
    assert world.go(120).executors == 2


def test_a_request_of_an_earlier_process_is_ignored(world: World) -> None:
    world.request(LOOP, executors=2)
    world.go()
    assert world.go().restarts == 1
    world.channel.write_request(
        LOOP, RestartRequest(t_s=world.now, reason="old", executors=5, run=1)
    )
    assert world.go().executors == 2


def test_a_fulfilled_order_does_not_take_effect_later(world: World) -> None:
    world.request(PERSON, executors=1)
    world.go(2)
    world.request(LOOP, executors=4)
    assert world.go().executors == 4
    assert world.go().restarts == 1


def test_a_repartition_of_the_loop_waits_for_the_window(tmp_path: Path) -> None:
    # From 1200 s after midnight.
    world = World(tmp_path, options=repartitioning("00:20-00:30"))
    world.go(3)
    world.request(LOOP, partitions=8)
    world.go(50)
    assert world.states.repartitioned == []
    world.now = 1200.0
    world.go()
    assert world.states.repartitioned == [(CHECKPOINT, 8, "")]


@pytest.mark.parametrize("options", [options_of(), repartitioning("12:00-13:00")])
def test_a_repartition_of_the_loop_never_runs_unless_allowed(
    tmp_path: Path, options: RestartOptions
) -> None:
    world = World(tmp_path, options=options)
    world.go(3)
    world.request(LOOP, partitions=8)
    world.go()
    assert world.states.repartitioned == []


@pytest.mark.parametrize("point", range(1, 13))
def test_a_restart_completes_after_a_kill_at_any_step(tmp_path: Path, point: int) -> None:
    world = World(tmp_path)
    world.go()
    world.job.stays = True
    world.states.planned = {CHECKPOINT}
    world.request(executors=2, partitions=8)
    world.steps, world.killed_at = 0, point
    killed = False
    for _ in range(60):
        if world.supervisor.state.phase == "finishing":
            world.states.planned.clear()
        try:
            world.go(1)
        except Killed:
            killed = True
            world.supervise()
    assert killed
    assert world.supervisor.state.phase == "running"
    assert (world.supervisor.state.executors, world.states.by_checkpoint) == (2, {CHECKPOINT: 8})
    assert world.job.orders[-1].executors == 2


def test_a_truncated_last_line_is_ignored(world: World) -> None:
    with (world.folder / FILE).open("a") as file:
        file.write('{"phase":"dra')
    assert world.restart_log.last() == world.supervisor.state


def test_a_script_that_neither_commits_its_batch_nor_ends_is_stopped(world: World) -> None:
    world.states.planned = {CHECKPOINT}
    world.request(partitions=8)
    world.go(3)
    assert world.supervisor.state.phase == "finishing"
    world.job.hangs = True
    world.now += 1000
    world.go(8)
    assert world.phases[:4] == ["draining", "stopped", "finishing", "stopping"]


def test_a_script_that_ends_before_its_first_batch_ends_its_supervisor(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.supervisor.step()
    world.job.stop()
    assert world.go(1).phase == "ended"


def test_every_table_row_except_that_of_pods_is_covered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = RecordingTable(RESTART)
    monkeypatch.setattr("rheostat.restart.supervisor.RESTART", table)
    for number, scenario in enumerate(
        (
            test_an_uncommitted_batch_leaves_the_state_and_the_job_starts,
            test_a_refused_repartition_is_reported_and_the_job_starts_at_its_new_size,
            test_a_script_that_outlives_its_queries_is_stopped,
            test_a_job_that_ends_by_itself_ends_its_supervisor_with_its_exit_code,
            test_a_script_that_neither_commits_its_batch_nor_ends_is_stopped,
        )
    ):
        scenario(started_world(tmp_path / str(number)))
    test_a_query_that_does_not_drain_is_stopped_after_the_limit(tmp_path / "drain")
    test_a_script_that_ends_before_its_first_batch_ends_its_supervisor(tmp_path / "first")
    for point in range(1, 13):
        test_a_restart_completes_after_a_kill_at_any_step(tmp_path / f"k{point}", point)
    assert table.missing() == {("draining", "unacknowledged")}
