"""Executors that a cluster takes for somebody else: what is said of each, and a job that goes on
with its output exact.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.drivers_elsewhere import until
from tests.e2e.run_on_cluster import COUNTS, Run

from rheostat.local.yarn_cluster import YarnCluster

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]


def await_size(run: Run, size: int) -> None:
    until(f"{size} executors", lambda: run.sizes()[-1:] == [size] or not run.child.alive)
    assert run.child.alive, run.said()[-4000:]


def test_what_yarn_preempts_for_another_queue_is_told_and_comes_back(tmp_path: Path) -> None:
    with YarnCluster(cores=4) as cluster:
        own = {"spark.yarn.queue": "default"}
        run = Run(tmp_path / "run", cluster, cluster.url, own, COUNTS, most=4, size=4)
        with run.child:
            await_size(run, 4)
            run.work()
            other = Run(tmp_path / "other", cluster, cluster.url, {"spark.yarn.queue": "urgent"})
            with other.child:
                run.says("was lost: preempted for somebody else")
                run.work()
                assert other.ended() == 0, other.said()[-4000:]
            await_size(run, 4)
            run.work()
            assert run.ended() == 0, run.said()[-4000:]
    run.check_counts()
    lost = run.lost()
    assert lost
    assert all(each.endswith("preempted for somebody else") for each in lost), lost
    assert {each.target for each in run.records() if each.raw} == {4}
