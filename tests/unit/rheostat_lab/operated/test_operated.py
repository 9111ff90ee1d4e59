"""The parts of the Kubernetes demo that need no Kubernetes."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from rheostat.cli.app import run
from rheostat.config import MetricOptions
from rheostat.operator.streaming_application import application_of
from rheostat_lab.clusters.kubernetes import plane_build
from rheostat_lab.demo.demo_options import Demo
from rheostat_lab.operated import operated_demo
from rheostat_lab.operated.days_plot import draw_png
from rheostat_lab.operated.days_report import Day, days_table, write_days
from rheostat_lab.operated.operator_process import manifests
from rheostat_lab.operated.sized_resource import (
    HPA,
    OWN,
    Shortened,
    autoscaler,
    driver_pod,
    resource,
)
from rheostat_lab.report.finished_run import Run
from rheostat_lab.report.summary import summarize

pytest.importorskip("kopf", reason="comes with the extra operator")
DEMO = Demo()


def wanted(way: str):  # type: ignore[no-untyped-def]
    return application_of(resource(way, DEMO, 7001, Shortened()))


def test_the_resource_of_every_day_is_accepted_by_the_operator() -> None:
    hpa, own = wanted(HPA), wanted(OWN)
    assert (hpa.sizing.mode, own.sizing.mode) == ("external", "policy")
    assert (own.sizing.policy, own.sizing.slo) == (DEMO.policy, DEMO.slo)
    assert dict(own.sizing.parameters) == dict(DEMO.policy_parameters)
    assert hpa.sizing.limits == own.sizing.limits == DEMO.limits
    assert hpa.sizing.metrics == MetricOptions(
        lag_threshold_rows=Shortened().threshold_rows, window_s=Shortened().window_s
    )


def test_the_driver_pod_has_the_labels_required_by_the_resource() -> None:
    assert wanted(HPA).labels.items() <= driver_pod()["metadata"]["labels"].items()


def test_the_hpa_manifest_is_adapted_to_the_application() -> None:
    made = autoscaler(DEMO, Shortened())
    metrics = made["spec"]["metrics"]
    assert [metric_spec["external"]["metric"]["name"] for metric_spec in metrics] == [
        "rheostat_utilization",
        "rheostat_gated_lag_change",
    ]
    name = resource(HPA, DEMO, 1, Shortened())["metadata"]["name"]
    for metric in metrics:
        assert metric["external"]["metric"]["selector"]["matchLabels"] == {"application": name}
    assert made["spec"]["scaleTargetRef"]["name"] == name


def test_the_manifests_route_metrics_to_this_computer_without_a_pod() -> None:
    made = manifests(7002)
    assert "Deployment" not in {manifest["kind"] for manifest in made}
    (api,) = (manifest for manifest in made if manifest["kind"] == "APIService")
    assert api["spec"]["service"]["port"] == 7002


def test_one_report_contains_both_days(day_run: Run, tmp_path: Path) -> None:
    days = [
        Day(way=way, run=replace(day_run, policy=f"by <{way}>"), summary=summarize(day_run))
        for way in (HPA, OWN)
    ]
    write_days(days, Shortened(), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    for way in (HPA, OWN):
        assert f'href="{way}/report.html"' in text
    assert "Kubernetes&#39; HPA (varga-v1)" in text
    assert "Rheostat (by &lt;rheostat&gt;)" in text
    assert Shortened().in_words() in text.replace("&#39;", "'")
    assert text.count("data:image/svg+xml") == 2


def test_both_days_fit_an_eighty_column_terminal_and_one_plot(day_run: Run, tmp_path: Path) -> None:
    days = [Day(way=way, run=day_run, summary=summarize(day_run)) for way in (HPA, OWN)]
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(days_table(days))
    text = console.export_text()
    assert "…" not in text
    assert "Latency, 99 %" in text
    draw_png([(day.sizer, day.run) for day in days], tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000


def test_a_missing_dependency_is_reported_before_any_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(operated_demo, "_NEEDS", ("no_such_module",))
    assert run(["demo", "--operator", "--out", str(tmp_path / "out")]) == 2
    assert "no_such_module" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_duration_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plane_build, "are_built", lambda: False)
    assert "about 10 minutes" in operated_demo.takes(DEMO)
    assert "about 8 minutes of two cores" in operated_demo.takes(DEMO)
