"""Ten starts on real Spark: history, limits, configuration and backlog determine the initial size,
under ``rheostat run``, ``attach`` and a supervisor."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rheostat.clusters.scaling_settings import INSTANCES, allocation
from rheostat.journal.folder import FolderJournal, read
from rheostat.model import Limits, Observation, Record, Rescaling
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.recovery.killed_job import KilledJob, Load
from rheostat_lab.services.broker import Broker

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]
TOPIC, ROWS, BACKLOG = "starts", 400, 380
RATE = 20.0
"""Rows per second of an executor in the journal; the backlog then needs four within 5 s."""

DEAD = "127.0.0.1:1"
RUN, ATTACH, RESTART = "run", "attach", "restart"


@dataclass(frozen=True)
class Case:
    """A start, and the size that it must have from the first decision on."""

    expected: int
    last: int | None = None
    """The last size in the journal; None without a journal."""

    age_s: float = 30.0
    limits: tuple[int, int] = (1, 4)
    backlog: int = 0
    broker: str = ""
    """The broker's address; empty for the running one."""

    way: str = RUN
    settings: Mapping[str, str] = field(default_factory=dict)


CASES = {
    "the last size": Case(3, last=3),
    "the last size within the limits": Case(2, last=3, limits=(1, 2)),
    "a last size of two days ago": Case(1, last=3, age_s=2 * 86_400.0),
    "no journal, a configured size": Case(2, settings={INSTANCES: "2"}),
    "the backlog": Case(4, last=1, backlog=BACKLOG),
    "the backlog within the limits": Case(3, last=1, backlog=BACKLOG, limits=(1, 3)),
    "a broker that is down": Case(2, last=2, backlog=BACKLOG, broker=DEAD),
    "attach, the last size": Case(3, last=3, way=ATTACH),
    "attach, the backlog": Case(4, last=2, backlog=BACKLOG, way=ATTACH),
    "a supervisor, the last size": Case(3, last=3, way=RESTART),
}


@pytest.fixture(scope="module")
def ran(cluster: Cluster, broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of a job that has committed all rows."""
    broker.create_topic(TOPIC, 2)
    Load(broker.bootstrap, TOPIC).append(ROWS)
    job = KilledJob(
        tmp_path_factory.mktemp("ran") / "job", cluster, broker.bootstrap, TOPIC, 2, None
    )
    job.start()
    job.until("all rows are committed", lambda: job.lag_rows() == 0)
    job.finish()
    return job.folder / "checkpoint"


@pytest.mark.parametrize("name", CASES)
def test_the_initial_size_fits_the_situation(
    name: str, ran: Path, cluster: Cluster, broker: Broker, tmp_path: Path
) -> None:
    case = CASES[name]
    job = KilledJob(
        tmp_path / "job",
        cluster,
        broker.bootstrap,
        TOPIC,
        case.limits[1],
        None if case.way == ATTACH else options(case, case.broker or broker.bootstrap),
        settings=attach_settings(case, broker) if case.way == ATTACH else case.settings,
    )
    shutil.copytree(ran, job.folder / "checkpoint")
    reread(job.folder / "checkpoint", case.backlog)
    journal(case, job)
    try:
        started_s = job.start()
        job.until("three decisions", lambda: len(targets(job, started_s)) >= 3)
    finally:
        job.kill()
    assert targets(job, started_s)[0] == case.expected, job.log
    low, high = case.limits
    assert all(low <= target <= high for target in targets(job, started_s))
    assert min(targets(job, started_s)[:3]) == case.expected


def options(case: Case, kafka: str) -> Sequence[str]:
    supervised = ["--actuator", "restart"] if case.way == RESTART else []
    low = ["--min", str(case.limits[0])]
    return ["--interval", "0.5", "--slo", "5", "--kafka", kafka, *low, *supervised]


def attach_settings(case: Case, broker: Broker) -> Mapping[str, str]:
    own = {
        "loop.interval_s": "0.5",
        "slo": "5",
        "kafka": broker.bootstrap,
        "limits.max": str(case.limits[1]),
        "journal": "journal",
    }
    wanted = allocation(Limits.between(*case.limits), 1)
    return {
        **{name: one.value for name, one in wanted.items()},
        **{f"spark.rheostat.{name}": value for name, value in own.items()},
    }


def reread(checkpoint: Path, rows: int) -> None:
    """Move the end of the last committed batch back by ``rows`` rows."""
    last = max((checkpoint / "commits").glob("[0-9]*"), key=lambda path: int(path.name)).name
    entry = checkpoint / "offsets" / last
    version, settings, offsets = entry.read_text().splitlines()
    earlier = {part: end - rows // 2 for part, end in json.loads(offsets)[TOPIC].items()}
    entry.write_text("\n".join((version, settings, json.dumps({TOPIC: earlier}))))
    (entry.parent / f".{last}.crc").unlink(missing_ok=True)


def journal(case: Case, job: KilledJob) -> None:
    """Write the journal of a previous run."""
    if case.last is None:
        return
    t_s = time.time() - case.age_s
    written = FolderJournal(job.folder / "journal")
    written.append(
        Record(
            t_s=t_s,
            observation=Observation(t_s=t_s, executors=1, batch_s=2.0, batch_rows=int(2 * RATE)),
            queries=(),
            raw=None,
            guards=(),
            target=case.last,
            actions=(),
            rescaling=Rescaling(phase="steady"),
        ),
        {"rescaling": {"checkpoints": [f"file:{job.folder}/checkpoint"]}},
    )
    written.close()


def targets(job: KilledJob, since_s: float) -> list[int]:
    records = read(job.folder / "journal")
    return [one.target for one in records if one.t_s >= since_s and one.target is not None]
