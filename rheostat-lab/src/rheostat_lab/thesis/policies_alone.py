"""Step A: the policies alone on the recorded signals, compared by their requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rheostat.model import Limits, Observation, Stage
from rheostat.replay.recording import find, read
from rheostat.replay.replayer import Decided, Request, replay_one
from rheostat.replay.validate import Moment
from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.thesis.thesis_runs import MAX_EXECUTORS, Cell, cells

WITHIN_S = 60.0
_CPU_SAMPLES = 2
"""Samples of the HPA's CPU window: half a minute, with a recorded sample every 15 s."""

_PARTLY = {
    "DS2-modern": (
        "busy time was recorded as a mean over operators: the busiest one's, and operators that the"
        " script takes for instances, are the plant's; of q3 no rate of reading was recorded: sizes"
        " cannot be compared"
    )
}


@dataclass(frozen=True, slots=True)
class Matched:
    """The recorded changes that a policy requested, by sign, in the minute before each."""

    recording: str
    policy: str
    parameter: str
    changes: int
    matched: int
    share: float
    by_chance: float
    """The expected matches of a policy with as many requests at random times."""

    note: str


def step_a(jobs: Mapping[str, FlinkJob], all_cells: Sequence[Cell] | None = None) -> list[Matched]:
    """Return one row per recorded run; ``jobs`` by query."""
    return [match(cell, jobs[cell.query]) for cell in all_cells or cells() if cell.recording]


def match(cell: Cell, job: FlinkJob) -> Matched:
    """Replay a recorded run, teacher-forced, and match the recorded changes of TaskManagers with
    the policy's requests.
    """
    name = cell.recording or ""
    moments = [
        _with_busiest(moment, job)
        for moment in _averaged_cpu(next(iter(read(find(name)).values())))
    ]
    policy, given = cell.production()
    request = Request(
        policy=policy,
        parameters=given,
        limits=Limits.between(1, MAX_EXECUTORS),
        interval_s=cell.interval_s,
    )
    decided = list(replay_one(None, moments, request))
    requested = [(decision.t_s, _sign(decision)) for decision in decided]
    changes = _changes([moment.observation for moment in moments])
    matched = sum(
        any(t - WITHIN_S <= at <= t and sign == way for at, sign in requested) for t, way in changes
    )
    chance = sum(_by_chance(requested, way) for _, way in changes)
    count = max(1, len(changes))
    note = _PARTLY.get(cell.policy, "")
    return Matched(
        name,
        cell.policy,
        cell.parameter,
        len(changes),
        matched,
        matched / count,
        chance / count,
        note,
    )


def _changes(observations: Sequence[Observation]) -> list[tuple[float, int]]:
    changes, last = [], None
    for observation in observations:
        if observation.executors is not None and last is not None and observation.executors != last:
            changes.append((observation.t_s, 1 if observation.executors > last else -1))
        last = observation.executors if observation.executors is not None else last
    return changes


def _by_chance(requested: Sequence[tuple[float, int]], way: int) -> float:
    """Return the share of the run's minutes with a request in that direction."""
    wanted = [t for t, sign in requested if sign == way]
    return sum(any(t - WITHIN_S <= at <= t for at in wanted) for t, _ in requested) / len(requested)


def _averaged_cpu(moments: Sequence[Moment]) -> list[Moment]:
    shares = [moment.observation.cpu for moment in moments]
    averaged = []
    for index, moment in enumerate(moments):
        known = [
            share
            for share in shares[max(0, index + 1 - _CPU_SAMPLES) : index + 1]
            if share is not None
        ]
        cpu = sum(known) / len(known) if known else None
        averaged.append(Moment(moment.where, replace(moment.observation, cpu=cpu)))
    return averaged


def _with_busiest(moment: Moment, job: FlinkJob) -> Moment:
    """Return the moment with the busiest operator as a stage of one second, as for DS2."""
    observation = moment.observation
    if (
        observation.busy is None
        or not observation.processed_rows_per_s
        or not observation.executors
    ):
        return moment
    rows, busy_s = (
        observation.processed_rows_per_s,
        min(1.0, observation.busy * job.busiest) * job.chained * observation.executors,
    )
    return Moment(
        moment.where,
        replace(
            observation, stages=(Stage(name="busiest", rows_in=rows, rows_out=rows, busy_s=busy_s),)
        ),
    )


def _sign(decided: Decided) -> int:
    size = decided.size or decided.decision.target
    return (decided.decision.target > size) - (decided.decision.target < size)
