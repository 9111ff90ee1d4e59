"""The initial size in random situations: history, limits, configuration, backlog, broker up or
down, journal present or not."""

from __future__ import annotations

import json
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.fakes import RecordingActuator, ScriptedSensor

from rheostat.capacity.initial_size import LAST_SIZE_AGE_S
from rheostat.guards.starting import LONGEST_S
from rheostat.journal.folder import FolderJournal, MemoryJournal, memory_of
from rheostat.journal.remote_journal import tails
from rheostat.loop import Loop
from rheostat.model import Decision, Memory, Observation, Record, Rescaling
from rheostat.settings import settings_of
from rheostat.spark.application_start import History, start_facts, start_of
from rheostat.storage.local_files import LocalFileSystem

NOW, SLO_S, TOPIC = 1_800_000_000.0, 10.0, "bids"


class WantsOne:
    """A policy that would scale in at every tick."""

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        return Decision(target=1, reason="less is cheaper"), memory


@dataclass(frozen=True)
class Situation:
    low: int
    high: int
    configured: int
    last: int | None
    """The last size in the journal; None without a journal."""

    age_s: float
    rate: float | None
    """Rows per second of an executor; None if the journal has no batch."""

    backlog: int | None
    """The rows of the backlog; None without a checkpoint."""

    is_up: bool
    arrivals: float

    @property
    def ceiling(self) -> int:
        return self.high

    @property
    def floor(self) -> int:
        """The lower bound of the size, computed from the situation alone."""
        wanted = [self.configured, self.low]
        if self.last is not None and self.age_s <= LAST_SIZE_AGE_S:
            wanted.append(self.last)
        if self.last is not None and self.backlog and self.is_up and self.rate:
            wanted.append(math.ceil(self.backlog / (self.rate * SLO_S)))
        return min(max(wanted), self.high)


def situations() -> st.SearchStrategy[Situation]:
    sizes = st.integers(1, 12)
    return st.tuples(sizes, sizes).flatmap(
        lambda limits: st.builds(
            Situation,
            low=st.just(min(limits)),
            high=st.just(max(limits)),
            configured=sizes,
            last=st.none() | sizes,
            age_s=st.sampled_from([1.0, 90.0, 80_000.0, 90_000.0, 1e6]),
            rate=st.none() | st.sampled_from([10.0, 300.0, 2500.0]),
            backlog=st.none() | st.integers(0, 200_000),
            is_up=st.booleans(),
            arrivals=st.sampled_from([0.0, 50.0, 1500.0]),
        )
    )


def written(case: Situation, folder: Path) -> History | None:
    """Write the journal and the checkpoint of an earlier run."""
    checkpoint = folder / "checkpoint"
    if case.backlog is not None:
        for log in ("offsets", "commits"):
            (checkpoint / log).mkdir(parents=True)
        offsets = json.dumps({TOPIC: {"0": 7, "1": 5}})
        (checkpoint / "offsets" / "3").write_text(f'v1\n{{"conf":{{}}}}\n{offsets}\n')
        (checkpoint / "offsets" / "4").write_text('v1\n{"conf":{}}\n{"bids":{"0":9999,"1":99}}\n')
        (checkpoint / "commits" / "3").write_text("v1\n{}")
    if case.last is None:
        return None
    batch = Observation(t_s=NOW - case.age_s, executors=2)
    if case.rate:
        batch = Observation(
            t_s=NOW - case.age_s, executors=2, batch_s=2.0, batch_rows=int(4 * case.rate)
        )
    journal = FolderJournal(folder / "journal")
    rescaling = {"command": ["app"], "checkpoints": [f"file:{checkpoint}"]}
    journal.append(
        Record(
            t_s=NOW - case.age_s,
            observation=batch,
            queries=(),
            raw=None,
            guards=(),
            target=case.last,
            actions=(),
            rescaling=Rescaling(phase="steady"),
        ),
        {"rescaling": rescaling} if case.backlog is not None else {},
    )
    journal.close()
    return History(
        segments_backwards=tails(folder / "journal"), memory=memory_of(folder / "journal")
    )


@settings(max_examples=300)
@given(situations())
def test_the_initial_size_covers_configuration_and_backlog_within_the_limits(
    case: Situation,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = written(case, Path(folder))

        def latest(topics):
            assert list(topics) == [TOPIC]
            newest = {(TOPIC, 0): 7 + (case.backlog or 0), (TOPIC, 1): 5}
            return newest if case.is_up else None

        facts = start_facts(history, case.configured, LocalFileSystem(), latest, NOW, NOW)
    start = start_of(facts, settings_of(limits=(case.low, case.high), slo=SLO_S, kafka="b:1"), NOW)
    assert start.size.executors == case.floor, start.size.reason
    event(f"decided by: {start.size.reason.split()[0]}")

    lag = float(case.backlog or 0) if case.is_up else None
    rate = case.arrivals if case.is_up else None
    first = Observation(t_s=NOW, executors=1, target=start.size.executors, lag_rows=lag)
    at_start = [first, *[replaced(first, t, rate) for t in (5.0, 10.0)]]
    late = Observation(
        t_s=NOW + 15,
        executors=1,
        target=start.size.executors,
        lag_rows=None if lag is None else max(lag, 1600 * SLO_S),
        input_rows_per_s=rate,
        batch_s=30.0,
    )
    caught_up = Observation(
        t_s=NOW + 20,
        executors=1,
        target=start.size.executors,
        lag_rows=0.0,
        input_rows_per_s=case.arrivals,
        batch_s=1.0,
    )
    actuator = RecordingActuator()
    loop = Loop(
        sensor=ScriptedSensor([*at_start, late, caught_up, late]),
        policy=WantsOne(),
        guards=settings_of(limits=(case.low, case.high)).built_guards[-1:],
        actuator=actuator,
        journal=MemoryJournal(
            {"guards": {"starting": {"since_s": 1.0, "floor": 99, "over": True}}}
        ),
    )
    loop.begin(start.guard, NOW)
    for tick in range(6):
        loop.step(NOW + 5.0 * tick)
    *starting, after, still_after = actuator.targets
    assert all(case.floor <= target <= case.ceiling for target in starting)
    assert starting == sorted(starting)
    is_late = lag is not None and rate is not None and lag > rate * SLO_S
    if is_late and not facts.capacity_rows_per_s:
        assert starting[-1] == case.ceiling
    assert after == still_after == case.low


def replaced(first: Observation, seconds: float, rate: float | None) -> Observation:
    return Observation(
        t_s=first.t_s + seconds,
        executors=first.executors,
        target=first.target,
        lag_rows=first.lag_rows,
        input_rows_per_s=rate,
    )


def test_the_initial_guard_expires_after_half_an_hour():
    start = start_of(
        start_facts(None, 3, LocalFileSystem(), None, NOW, NOW), settings_of(limits=(1, 4)), NOW
    )
    growing = Observation(t_s=NOW, executors=3, lag_rows=1e9, input_rows_per_s=10.0, batch_s=60.0)
    wanted = Decision(target=1, reason="policy")
    raised, memory = start.guard(wanted, growing, {}, NOW + LONGEST_S - 1)
    assert raised.target == 3
    assert start.guard(wanted, growing, memory, NOW + LONGEST_S)[0] == wanted
