"""Mean latency against the mean number of executors, one point per run, as in the source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.svg_picture import picture

_ZOOM = 2.0
_WIDTH_IN, _HEIGHT_IN = 8, 5


def scatter(path: Path, runs: Sequence[PlayedRun], slo_s: float) -> list[Path]:
    """Write ``path``.svg, and ``path``-zoomed.svg up to twice the objective; hollow marks are runs
    that missed the objective. Nothing is written without runs.
    """
    known = [run for run in runs if run.latency_mean_s is not None and run.executors_mean]
    paths = []
    for zoomed in (False, True) if known else ():
        paths.append(path.with_name(f"{path.name}{'-zoomed' if zoomed else ''}.svg"))
        with picture(paths[-1], _WIDTH_IN, _HEIGHT_IN) as figure:
            axes = figure.subplots()
            for policy in dict.fromkeys(run.policy for run in known):
                _points(axes, policy, [run for run in known if run.policy == policy])
            axes.axhline(slo_s, color="0.4", linewidth=1, linestyle=":")
            axes.set(xlabel="executors, mean", ylabel="latency, mean (s)")
            if zoomed:
                axes.set_ylim(0, _ZOOM * slo_s)
            axes.legend(fontsize=6)
    return paths


def _points(axes: object, policy: str, runs: Sequence[PlayedRun]) -> None:
    for attained in (True, False):
        points = [run for run in runs if run.attained == attained]
        if points:
            axes.plot(  # type: ignore[attr-defined]
                [run.executors_mean for run in points],
                [run.latency_mean_s for run in points],
                "o",
                markerfacecolor=None if attained else "none",
                label=policy if attained else f"{policy} (objective missed)",
            )
