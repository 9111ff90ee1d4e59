"""Write deploy/grafana: the dashboards of one job and of a fleet, with Grafana's own library.

Run: python scripts/grafana_dashboards.py      writes both; a test fails if they are outdated
"""

from __future__ import annotations

import sys
from pathlib import Path

from grafana_foundation_sdk.builders import dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import DataSourceRef

FOLDER = Path(__file__).parents[1] / "deploy" / "grafana"
SOURCE = DataSourceRef(type_val="prometheus", uid="$datasource")
JOB = '{application=~"$application"}'
Queries = dict[str, str]


def _rate(name: str, labels: str = JOB) -> str:
    return f"rate({name}{labels}[$__rate_interval])"


def _quantile(share: float, name: str) -> str:
    buckets = f"sum by (le) ({_rate(f'{name}_bucket')})"
    return f"histogram_quantile({share}, {buckets})"


LATE = f"{_rate('rheostat_late_rows_total')} / {_rate('rheostat_rows_total')}"
JOB_PANELS: tuple[tuple[str, str, Queries], ...] = (
    (
        "Load",
        "cps",
        {
            "arriving": f"rheostat_input_rows_per_second{JOB}",
            "processed": f"rheostat_processed_rows_per_second{JOB}",
            "written": f"rheostat_output_rows_per_second{JOB}",
        },
    ),
    (
        "Executors",
        "short",
        {
            "registered": f"rheostat_executors{JOB}",
            "target": f"rheostat_target_executors{JOB}",
            "wanted by the policy": f"rheostat_wanted_executors{JOB}",
            "floor": f"rheostat_min_executors{JOB}",
            "ceiling": f"rheostat_max_executors{JOB}",
        },
    ),
    (
        "Latency",
        "s",
        {
            "p50": _quantile(0.5, "rheostat_row_latency_seconds"),
            "p99": _quantile(0.99, "rheostat_row_latency_seconds"),
            "running batch": f"rheostat_running_batch_seconds{JOB}",
            "objective": f"rheostat_slo_seconds{JOB}",
        },
    ),
    ("Late rows", "percentunit", {"share": LATE}),
    (
        "Backlog",
        "short",
        {"rows": f"rheostat_lag_rows{JOB}"},
    ),
    (
        "Wait of the oldest row",
        "s",
        {"oldest": f"rheostat_lag_seconds{JOB}", "mean": f"rheostat_event_time_lag_seconds{JOB}"},
    ),
    (
        "Batches",
        "s",
        {
            "p50": _quantile(0.5, "rheostat_batch_duration_seconds"),
            "p99": _quantile(0.99, "rheostat_batch_duration_seconds"),
            "trigger interval": f"rheostat_trigger_interval_seconds{JOB}",
        },
    ),
    (
        "Use of the slots",
        "percentunit",
        {"busy": f"rheostat_busy_ratio{JOB}", "CPU": f"rheostat_cpu_utilization_ratio{JOB}"},
    ),
    (
        "Decisions by reason",
        "short",
        {
            "{{action}}: {{reason}}": "sum by (action, reason) (increase(rheostat_decisions_total"
            f"{JOB}[$__rate_interval]))"
        },
    ),
    (
        "Rescales",
        "short",
        {
            "{{direction}}: {{outcome}}": "sum by (direction, outcome) ("
            f"increase(rheostat_rescales_total{JOB}[$__rate_interval]))"
        },
    ),
    (
        "From the decision to the executors",
        "s",
        {"p90": _quantile(0.9, "rheostat_executor_arrival_seconds")},
    ),
    (
        "Error of the forecast",
        "percentunit",
        {
            "p50": _quantile(0.5, "rheostat_forecast_error_ratio"),
            "p90": _quantile(0.9, "rheostat_forecast_error_ratio"),
        },
    ),
    ("Slots paid", "short", {"slots": _rate("rheostat_slot_seconds_total")}),
    ("Bound by", "short", {"{{by}}": f"rheostat_bound{JOB}"}),
    ("State", "bytes", {"state": f"rheostat_state_bytes{JOB}"}),
    (
        "Failures",
        "short",
        {"{{kind}}": f"increase(rheostat_failures_total{JOB}[$__rate_interval])"},
    ),
)
FLEET_COLUMNS: Queries = {
    "executors": f"sum by (application) (rheostat_executors{JOB})",
    "target": f"sum by (application) (rheostat_target_executors{JOB})",
    "rows/s": f"sum by (application) (rheostat_input_rows_per_second{JOB})",
    "latency (s)": f"max by (application) (rheostat_latency_seconds{JOB})",
    "objective (s)": f"max by (application) (rheostat_slo_seconds{JOB})",
    "backlog": f"sum by (application) (rheostat_lag_rows{JOB})",
    "late rows, 1 h": f"sum by (application) (increase(rheostat_late_rows_total{JOB}[1h]))",
    "slot-hours, 24 h": f"sum by (application) (increase(rheostat_slot_seconds_total{JOB}[24h])) / 3600",
    "halted": f"max by (application) (rheostat_halted{JOB})",
}
FLEET_STATS: tuple[tuple[str, str], ...] = (
    ("Jobs", f"count(rheostat_last_tick_timestamp_seconds{JOB})"),
    ("Late", f"count(rheostat_latency_seconds{JOB} > rheostat_slo_seconds{JOB}) or vector(0)"),
    ("Bound", f"count(sum by (application) (rheostat_bound{JOB})) or vector(0)"),
    ("Halted", f"sum(rheostat_halted{JOB})"),
    (
        "Blind",
        f"count(rheostat_executors{JOB} unless rheostat_input_rows_per_second{JOB}) or vector(0)",
    ),
    ("Executors", f"sum(rheostat_executors{JOB})"),
)


def _query(expression: str, legend: str = "", ref: str = "A") -> prometheus.Dataquery:
    return prometheus.Dataquery().expr(expression).legend_format(legend).ref_id(ref)


def _instant(expression: str, ref: str) -> prometheus.Dataquery:
    return _query(expression, ref=ref).instant().format("table")


def _dashboard(title: str, uid: str) -> dashboard.Dashboard:
    application = (
        dashboard.QueryVariable("application")
        .datasource(SOURCE)
        .query("label_values(rheostat_last_tick_timestamp_seconds, application)")
        .include_all(True)
        .multi(True)
        .refresh(2)
    )
    return (
        dashboard.Dashboard(title)
        .uid(uid)
        .tags(["rheostat"])
        .refresh("30s")
        .time("now-6h", "now")
        .with_variable(dashboard.DatasourceVariable("datasource").type("prometheus"))
        .with_variable(application)
    )


def job() -> dashboard.Dashboard:
    """Return the dashboard of one job: its panels share one time axis."""
    board = _dashboard("Rheostat: a job", "rheostat-job")
    for title, unit, queries in JOB_PANELS:
        panel = timeseries.Panel().title(title).unit(unit).datasource(SOURCE).span(12).height(7)
        for number, (legend, expression) in enumerate(queries.items()):
            panel = panel.with_target(_query(expression, legend, chr(ord("A") + number)))
        board = board.with_panel(panel)
    return board


def fleet() -> dashboard.Dashboard:
    """Return the dashboard of many jobs: counts, and one row per job."""
    board = _dashboard("Rheostat: all jobs", "rheostat-fleet")
    for title, expression in FLEET_STATS:
        panel = stat.Panel().title(title).datasource(SOURCE).span(4).height(4)
        board = board.with_panel(panel.with_target(_query(expression)))
    jobs = table.Panel().title("Jobs").datasource(SOURCE).span(24).height(14)
    renamed = {}
    for number, (title, expression) in enumerate(FLEET_COLUMNS.items()):
        ref = chr(ord("A") + number)
        renamed[f"Value #{ref}"] = title
        jobs = jobs.with_target(_instant(expression, ref))
    return board.with_panel(_joined(jobs, renamed))


def _joined(jobs: table.Panel, renamed: dict[str, str]) -> table.Panel:
    """Return the table with one row per job: results are merged, and columns renamed."""
    from grafana_foundation_sdk.models.dashboard import DataTransformerConfig

    organize = {"excludeByName": {"Time": True}, "renameByName": renamed}
    return jobs.with_transformation(
        DataTransformerConfig(id_val="merge", options={})
    ).with_transformation(DataTransformerConfig(id_val="organize", options=organize))


def files() -> dict[str, str]:
    """Return the text of each file by its name."""
    boards = {"job.json": job(), "fleet.json": fleet()}
    encoder = JSONEncoder(sort_keys=True, indent=1)
    return {name: encoder.encode(board.build()) + "\n" for name, board in boards.items()}


def main() -> int:
    """Write the files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
