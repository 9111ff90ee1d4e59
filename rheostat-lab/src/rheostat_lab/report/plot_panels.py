"""The panels of a run's plot over time, in seconds since the start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator

from rheostat.signals.latency import mean_s
from rheostat_lab.report.batch_parts import PARTS, REST, parts_of
from rheostat_lab.report.finished_run import Run
from rheostat_lab.report.latency_shares import quantile_s
from rheostat_lab.report.plot_theme import Theme
from rheostat_lab.report.rows_over_time import Floats, arrived, waiting
from rheostat_lab.report.sizes_over_time import Steps, paid, registered
from rheostat_lab.report.summary import batch_latencies

# Batches end about every second; bins of one second would contain none or two, and the rate would
# jump.
_BIN_S = 2.0
_FORECASTS = tuple(f"forecast_rows_per_s_p{q}" for q in (50, 90, 99))
_AHEAD = "forecast_horizon_s"

Draw = Callable[[Any, Run, Theme], None]


def load(panel: Any, run: Run, theme: Theme) -> None:
    """Draw arriving and committed rows per second, and the forecast of a policy that has one."""
    edges = np.append(np.arange(0, run.duration_s, _BIN_S), run.duration_s)
    middles = (edges[:-1] + edges[1:]) / 2
    arriving = np.diff(arrived(run, edges + run.start_s)) / np.diff(edges)
    done = _committed_rate(run, edges)
    _forecast(panel, run, theme)
    if done is not None:
        panel.plot(middles, done, color=theme.load, linewidth=1, alpha=0.6, label="committed")
    panel.plot(middles, arriving, color=theme.ink, linewidth=1.8, label="arriving")
    _from_zero(panel, 1.25)


def size(panel: Any, run: Run, theme: Theme) -> None:
    """Draw executors: paid for, registered, decided."""
    area = {"fill": True, "color": theme.size, "alpha": 0.2, "linewidth": 0}
    _stairs(panel, run, paid(run), baseline=0, label="paid for", **area)
    _stairs(
        panel,
        run,
        registered(run),
        baseline=None,
        color=theme.size,
        linewidth=2,
        label="registered",
    )
    decided = _decided(run)
    if decided:
        dotted = {"color": theme.ink, "linewidth": 1.3, "linestyle": (0, (2, 2))}
        _stairs(panel, run, decided, baseline=None, label="decided", **dotted)
    most = max(*registered(run).counts, *paid(run).counts, *(decided.counts if decided else ()), 1)
    panel.set_ylim(0, most + 0.8)
    panel.yaxis.set_major_locator(MaxNLocator(5, integer=True))


def receivers(panel: Any, run: Run, theme: Theme) -> None:
    """Draw serving and requested receivers."""
    times = [receiver.t_s - run.start_s for receiver in run.receivers]
    serving = [receiver.serving for receiver in run.receivers]
    wanted = [receiver.wanted for receiver in run.receivers]
    how: dict[str, Any] = {"drawstyle": "steps-post"}
    panel.plot(times, serving, color=theme.size, linewidth=2, label="serving", **how)
    dotted = {"linewidth": 1.3, "linestyle": (0, (2, 2))}
    panel.plot(times, wanted, color=theme.ink, label="wanted", **dotted, **how)
    panel.set_ylim(0, max(*serving, *wanted, 1) + 0.8)
    panel.yaxis.set_major_locator(MaxNLocator(5, integer=True))


def latency(panel: Any, run: Run, theme: Theme) -> None:
    """Draw the mean and 99 % latency of each batch's rows at its commit, and the objective."""
    known = [
        (batch.commit_s - run.start_s, mean_s(spreads) or 0.0, quantile_s(spreads, 0.99) or 0.0)
        for batch, spreads in zip(run.batches, batch_latencies(run), strict=True)
        if spreads
    ]
    times, means, tails = np.array(known).T if known else np.zeros((3, 0))
    panel.fill_between(times, means, tails, color=theme.late, alpha=0.16, linewidth=0)
    panel.plot(times, tails, color=theme.late, linewidth=1.3, label="99 % of rows")
    panel.plot(times, means, color=theme.ink, linewidth=1.3, label="mean")
    panel.axhline(
        run.slo.latency_s,
        color=theme.late,
        linewidth=1.1,
        linestyle=(0, (5, 3)),
        label=f"objective {run.slo.latency_s:g} s",
    )
    _from_zero(panel, 1.18, at_least=1.18 * run.slo.latency_s)


def lag(panel: Any, run: Run, theme: Theme) -> None:
    """Draw the uncommitted rows, just before and after each commit."""
    commits = np.array([batch.commit_s for batch in run.batches])
    even = np.arange(run.start_s, run.end_s, _BIN_S / 2)
    # Also a millisecond before each commit, so that the lag falls vertically.
    times = np.unique(np.concatenate([even, commits, commits - 1e-3]))
    times = times[(times >= run.start_s) & (times <= run.end_s)]
    rows = waiting(run, times)
    panel.fill_between(times - run.start_s, 0, rows, color=theme.load, alpha=0.16, linewidth=0)
    panel.plot(times - run.start_s, rows, color=theme.load, linewidth=1.2)
    _from_zero(panel, 1.18)


def batch_parts(panel: Any, run: Run, theme: Theme) -> None:
    """Draw each batch's duration as stacked parts, from its start to the start of the next one."""
    known = [(batch.start_s - run.start_s, parts_of(batch)) for batch in run.batches]
    known = [(at_s, split) for at_s, split in known if split]
    times = [at_s for at_s, _ in known]
    bottom: Floats = np.zeros(len(known))
    for name, color in zip((*PARTS, REST), theme.parts, strict=True):
        part = np.array([split.get(name, 0.0) for _, split in known])
        if part.any():
            how: dict[str, Any] = {"color": color, "linewidth": 0, "step": "post", "label": name}
            panel.fill_between(times, bottom, bottom + part, **how)
        bottom = bottom + part
    _from_zero(panel, 1.1)


def machine(panel: Any, run: Run, theme: Theme) -> None:
    """Draw how busy the machine was, per core: all CPU, the run's own, and the load average."""
    times = np.array([sample.t_s - run.start_s for sample in run.machine])
    own = np.array([sample.own_cpu for sample in run.machine], dtype=float)
    queued = np.array([sample.load for sample in run.machine], dtype=float)
    cpu = np.array([sample.cpu for sample in run.machine])
    if np.isfinite(own).any():
        area: dict[str, Any] = {"color": theme.size, "alpha": 0.3, "linewidth": 0}
        panel.fill_between(times, 0, own, label="CPU of this run", **area)
    panel.plot(times, cpu, color=theme.ink, linewidth=1.3, label="all CPU in use")
    if np.isfinite(queued).any():
        panel.plot(times, queued, color=theme.late, linewidth=1.3, label="load average")
    panel.axhline(1, color=theme.faint, linewidth=0.9, linestyle=(0, (2, 2)))
    _from_zero(panel, 1.12, at_least=1.15)


def _committed_rate(run: Run, edges: Floats) -> Floats | None:
    """Return the rows committed per second between edges, as if each batch were committed evenly
    since the previous one; None without a batch.
    """
    if not run.batches:
        return None
    # Evenly since the previous commit, because the rate of points in time would consist of spikes.
    times = [0.0, *(batch.commit_s - run.start_s for batch in run.batches)]
    rows = [float(run.batches[0].first_row), *(float(batch.end_row) for batch in run.batches)]
    return np.asarray(np.diff(np.interp(edges, times, rows)) / np.diff(edges))


def has_forecast(run: Run) -> bool:
    """Return whether the policy's evidence contains forecasts of the load."""
    return bool(_forecasts(run))


def _forecast(panel: Any, run: Run, theme: Theme) -> None:
    """Draw the forecasts at the time that they predict: 50 to 99 % as a band, 90 % as a line."""
    forecasts = _forecasts(run)
    if not forecasts:
        return
    times, half, most, nearly_all = np.array(forecasts).T
    band: dict[str, Any] = {"color": theme.size, "alpha": 0.18, "linewidth": 0}
    panel.fill_between(times, half, nearly_all, label="forecast, 50 to 99 %", **band)
    panel.plot(times, most, color=theme.size, linewidth=1, label="forecast, 90 %")


def _forecasts(run: Run) -> list[tuple[float, ...]]:
    """Return the predicted time and the three rates of each forecast."""
    forecasts = []
    for record in run.records:
        evidence = record.raw.evidence if record.raw else {}
        values = [evidence.get(name) for name in _FORECASTS]
        ahead_s = evidence.get(_AHEAD) or 0.0
        numbers = [float(value) for value in (ahead_s, *values) if isinstance(value, int | float)]
        if len(numbers) == 1 + len(_FORECASTS):
            forecasts.append((record.t_s - run.start_s + numbers[0], *numbers[1:]))
    return forecasts


def _decided(run: Run) -> Steps | None:
    """Return the target over time; None if there never was one."""
    targets = [
        (record.t_s, record.target)
        for record in run.records
        if record.target is not None and run.start_s <= record.t_s < run.end_s
    ]
    if not targets:
        return None
    times, counts = zip(*targets, strict=True)
    return Steps((*times, run.end_s), counts)


def _stairs(panel: Any, run: Run, steps: Steps, **how: Any) -> None:
    panel.stairs(steps.counts, [time - run.start_s for time in steps.times_s], **how)


def _from_zero(panel: Any, room: float, at_least: float = 0.0) -> None:
    """Let the axis begin at 0, leave room above the data, and use plain numbers."""
    top = float(panel.dataLim.y1)
    panel.set_ylim(0, max(room * top if np.isfinite(top) else 0.0, at_least) or 1.0)
    panel.yaxis.set_major_locator(MaxNLocator(5))
    panel.yaxis.set_major_formatter(FuncFormatter(_plain))


def _plain(value: float, _: int) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:g}"
