from __future__ import annotations

from pathlib import Path

from rheostat.model import Observation
from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.matrix.run_figures import PANELS, scatter, telemetry


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


def test_the_telemetry_plot_has_the_eight_panels_of_the_thesis(tmp_path: Path) -> None:
    looks = [
        Observation(t_s=float(t), executors=2, busy=0.4, batch_s=2.0, trigger_s=1.0)
        for t in range(600)
    ]
    telemetry(tmp_path / "q3.svg", {"hpa": looks, "fixed executors=5": looks[:1]})
    text = (tmp_path / "q3.svg").read_text()
    assert len(PANELS) == 8
    assert all(title in text for title in [*PANELS, "hpa", "fixed executors=5"])
    assert (PANELS["idle"](looks[0]), PANELS["batch over trigger"](looks[0])) == (0.6, 2.0)
    assert PANELS["CPU per slot"](looks[0]) is None
