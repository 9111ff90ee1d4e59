"""Replays a recording with a policy: each decision uses only the data recorded until then."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rheostat.config import GuardOptions
from rheostat.errors import BadInput
from rheostat.guards import Guard, guard, guards_of
from rheostat.model import Decision, Limits, Memory, Observation, Slo
from rheostat.policies.checked import Checked
from rheostat.policies.registry import create
from rheostat.ports import Policy
from rheostat.replay.recording import Recording, by_application, kind_of, moments_of, names_of
from rheostat.replay.tables import Table, is_index
from rheostat.replay.validate import Moment

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession


CEILING = 1000
"""The default maximum of executors: practically unlimited, but it bounds a target that is fed
back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A replay: policy, parameters, limits, and how the recording is fed to the policy.

    With ``interval_s`` None, the policy decides at every recorded time. ``initial`` is the initial
    size if each decision is applied to the next observation; None uses the recorded sizes.
    ``guards`` are additional ones, without cooldown. ``slo`` None is the policy's own.
    """

    policy: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=lambda: Limits.between(1, CEILING))
    interval_s: float | None = None
    initial: int | None = None
    guards: GuardOptions = field(default_factory=GuardOptions)
    slo: Slo | None = None

    def __post_init__(self) -> None:
        low, high = self.limits.min_executors, self.limits.max_executors
        if self.interval_s is not None and not 0 < self.interval_s < math.inf:
            raise BadInput(f"the interval must be above 0 seconds, but it is {self.interval_s}")
        if self.initial is not None and not low <= self.initial <= high:
            raise BadInput(
                f"the initial number of executors must be within {low} and {high}, but it is"
                f" {self.initial}"
            )
        self.make_guards()

    def make_guards(self) -> tuple[Guard, ...]:
        """Return the guards in their order; raises BadInput for an option out of range."""
        return guards_of(self.limits, self.guards)

    def make(self) -> Policy:
        """Return a new policy whose errors are BadInput; raises BadInput for wrong parameters."""
        return Checked(create(self.policy, self.parameters, self.slo), self.policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The decision of the policy at a moment, within the limits."""

    t_s: float
    application: str | None
    size: int | None
    """The number of executors at that time."""

    decision: Decision


def replay(recording: Recording, request: Request) -> Iterator[Decided]:
    """Yield the decisions for each application; raises BadInput if the policy fails."""
    for application, moments in recording.items():
        yield from replay_one(application, moments, request)


def replay_one(
    application: str | None, moments: Sequence[Moment], request: Request
) -> Iterator[Decided]:
    """Yield the decisions for the moments of one application."""
    # Create a new policy: the memory of one application does not apply to another.
    policy, guards = request.make(), request.make_guards()
    memory: Memory = {}
    kept: Mapping[str, Memory] = {}
    size = request.initial
    for now, moment in _ticks(moments, request.interval_s):
        observation = moment.observation
        if request.initial is not None:
            observation = replace(observation, executors=size, target=size)
        elif size and not observation.size:  # the recording has no size: the target applies
            observation = replace(observation, target=size)
        raw, memory = _decide(policy, observation, memory, moment.where)
        guarded = guard(guards, raw, observation, kept, now)
        kept = guarded.memory
        yield Decided(
            t_s=now, application=application, size=observation.size, decision=guarded.decision
        )
        # Without an initial size the recorded size stays, regardless of the decision.
        size = observation.size if request.initial is None else guarded.decision.target


def as_line(decided: Decided, several: bool = False) -> str:
    """Return a decision as a JSON line; ``application`` and ``actions`` are optional."""
    decision = decided.decision
    evidence = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in decision.evidence.items()
    }
    line: dict[str, Any] = {
        "t_s": decided.t_s,
        "target": decision.target,
        "reason": decision.reason,
        "evidence": evidence,
    }
    if decision.actions:
        line["actions"] = list(map(str, decision.actions))
    return json.dumps(
        {"application": decided.application, **line} if several else line, allow_nan=False
    )


def _ticks(moments: Sequence[Moment], interval_s: float | None) -> Iterator[tuple[float, Moment]]:
    """Yield the decision times, each with the newest moment up to then."""
    if interval_s is None:
        yield from ((moment.observation.t_s, moment) for moment in moments)
        return
    start, end, newest = moments[0].observation.t_s, moments[-1].observation.t_s, 0
    # Multiply the tick number, so that the times of a long replay do not drift.
    for tick in range(math.floor((end - start) / interval_s + 1e-9) + 1):
        now = start + tick * interval_s
        while newest + 1 < len(moments) and moments[newest + 1].observation.t_s <= now + 1e-6:
            newest += 1
        yield now, moments[newest]


def _decide(
    policy: Policy, observation: Observation, memory: Memory, where: str
) -> tuple[Decision, Memory]:
    try:
        return policy.decide(observation, memory)
    except BadInput as wrong:
        raise BadInput(f"{where}: {wrong}") from None


SCHEMA = "application string, t_s double, target int, reason string, line string"
"""``line`` is the line that ``rheostat replay --json`` prints."""


def read_frame(spark: SparkSession, path: Path) -> DataFrame:
    """Return a recording as a table: Parquet, or CSV as text; raises BadInput for a journal."""
    kind = kind_of(path)
    if kind == "journal":
        raise BadInput(f"{path} is a journal, one application's; replay it without Spark")
    # Keep cells as text with doubled quotes, which is not Spark's default.
    frame = (
        spark.read.parquet(str(path))
        if kind == "parquet"
        else spark.read.options(header=True, escape='"').csv(str(path))
    )
    return frame.drop(*filter(is_index, frame.columns))


def replay_job(frame: DataFrame, request: Request, name: str = "the recording") -> DataFrame:
    """Return the decisions for each application of a table of ``Observation`` columns (``SCHEMA``).

    Groups are sorted by time; an invalid row fails the lazy job (``refusal`` extracts the message).
    Raises BadInput for a table without ``application`` and for an invalid policy.
    """
    # Create the policy here, so that an invalid one is reported before a job starts.
    request.make()
    if "application" not in frame.columns:
        raise BadInput(
            f"{name} has no column application; a replay as a Spark job has one group for each"
        )
    # Check the header here, too: tasks would each report it in a stack trace.
    names_of(frame.columns, name)

    def decide(key: tuple[Any, ...], group: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        recording = _recording(
            list(group.columns), group.to_dict("records"), f"{name}, application {key[0]}"
        )
        rows = [
            (d.application, d.t_s, d.decision.target, d.decision.reason, as_line(d, several=True))
            for d in replay(recording, request)
        ]
        return pd.DataFrame(rows, columns=[column.split(" ")[0] for column in SCHEMA.split(", ")])

    return frame.groupBy("application").applyInPandas(decide, SCHEMA)


def lines(decisions: DataFrame) -> Iterator[str]:
    """Yield the decision lines by application and time; raises BadInput for an invalid row."""
    once = decisions.persist()  # sorting reads its input twice
    try:
        yield from (row.line for row in once.orderBy("application", "t_s").toLocalIterator())
    except Exception as failed:
        if refused := refusal(failed):
            raise BadInput(refused) from None
        raise
    finally:
        once.unpersist()


def refusal(failed: Exception) -> str | None:
    """Return the message of BadInput in a failed Spark task; None if it failed otherwise."""
    # Only the text of an exception is transferred from the worker to the driver.
    mark = f"{BadInput.__module__}.{BadInput.__name__}: "
    messages = [line.partition(mark)[2] for line in str(failed).splitlines() if mark in line]
    return messages[-1].strip() if messages else None


def _recording(columns: list[str], rows: Iterable[Mapping[Any, Any]], name: str) -> Recording:
    placed = ((f"{name}, t_s {cells.get('t_s', cells.get('timestamp'))}", cells) for cells in rows)
    moments = sorted(
        moments_of(Table(columns, placed), name), key=lambda moment: moment.observation.t_s
    )
    return by_application(moments)
