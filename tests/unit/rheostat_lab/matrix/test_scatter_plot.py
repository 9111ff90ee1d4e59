from __future__ import annotations

from pathlib import Path

from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.matrix.scatter_plot import scatter


def run(policy: str, executors_mean: float | None, attained: bool = True) -> PlayedRun:
    return PlayedRun(
        query="q3",
        load="q3",
        policy=policy,
        seed=7,
        attained=attained,
        share_within_slo=1.0,
        latency_p99_s=5.0,
        latency_mean_s=2.0,
        slot_hours=0.3,
        executors_mean=executors_mean,
        rescalings=6,
        failed_tasks=0,
        exact=True,
    )


def test_the_plot_and_its_zoom_name_every_policy(tmp_path: Path) -> None:
    paths = scatter(tmp_path / "q3", [run("hpa", 3.0), run("fixed", 5.0, attained=False)], 10.0)
    assert [path.name for path in paths] == ["q3.svg", "q3-zoomed.svg"]
    for path in paths:
        assert "objective missed" in path.read_text()


def test_runs_without_a_mean_are_not_plotted(tmp_path: Path) -> None:
    assert scatter(tmp_path / "q3", [run("hpa", None)], 10.0) == []
    assert not list(tmp_path.iterdir())
