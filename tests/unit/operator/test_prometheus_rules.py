# mypy: disallow-untyped-calls=False
"""The recording rules match the equations of Varga et al. and our own gauges; also with
Prometheus' own tool if it is installed."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.operator.promql import PromQL, samples

from rheostat.config import MetricOptions
from rheostat.metrics.catalog import GAUGES, PREFIX, SIGNALS
from rheostat.metrics.record_metrics import observed_gauges
from rheostat.model import Observation

DEPLOY = Path(__file__).parents[3] / "deploy"
PROMETHEUS = DEPLOY / "prometheus"
RULES = {
    rule["record"]: rule["expr"]
    for group in yaml.safe_load((PROMETHEUS / "recording-rules.yaml").read_text())["groups"]
    for rule in group["rules"]
}
CASES = yaml.safe_load((PROMETHEUS / "recording-rules.test.yaml").read_text())["tests"]
GAUGE_OF = {name: "rheostat_" + name.partition(":")[2] for name in RULES}


def series_of(case):
    step_s = float(case["interval"].removesuffix("s"))
    return {
        series["series"].partition("{")[0]: samples(series["values"], step_s)
        for series in case["input_series"]
    }


def seconds(text):
    units = {"m": 60.0, "s": 1.0}
    return sum(int(number) * units[unit] for number, unit in re.findall(r"(\d+)([ms])", text))


def expected_value(expectation):
    return expectation["exp_samples"][0]["value"] if expectation["exp_samples"] else None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_every_rule_computes_the_value_of_its_equation(case):
    evaluator = PromQL(series_of(case), RULES)
    for expectation in case["promql_expr_test"]:
        value = evaluator.at(expectation["expr"], seconds(expectation["eval_time"]))
        assert value == expected_value(expectation), expectation["expr"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_every_rule_computes_the_value_of_our_gauge(case):
    """An HPA gets the same values with and without Prometheus."""
    series = series_of(case)
    gauges_at: dict[float, Any] = {}
    memory: Any = {}
    for number, (t_s, _) in enumerate(next(iter(series.values()))):
        values = {name.removeprefix(PREFIX): points[number][1] for name, points in series.items()}
        signals: dict[str, Any] = {
            SIGNALS[name].signal if name in SIGNALS else "busy": value
            for name, value in values.items()
        }
        gauges_at[t_s], memory = observed_gauges(
            MetricOptions(), Observation(t_s=t_s, **{"executors": 2, **signals}), memory
        )
    for expectation in case["promql_expr_test"]:
        gauge = GAUGE_OF[expectation["expr"]].removeprefix(PREFIX)
        if PREFIX + gauge in GAUGES:
            assert gauges_at[seconds(expectation["eval_time"])].get(gauge) == expected_value(
                expectation
            ), gauge


def test_every_rule_has_a_test_case():
    tested_rules = {test["expr"] for case in CASES for test in case["promql_expr_test"]}
    assert tested_rules == set(RULES)


def test_the_adapter_serves_every_metric_of_the_hpas():
    served = set()
    for rule in yaml.safe_load((PROMETHEUS / "adapter-rules.yaml").read_text())["rules"][
        "external"
    ]:
        pattern = rule["seriesQuery"].split('"')[1]
        names = [*RULES, *GAUGES]
        served |= {GAUGE_OF.get(name, name) for name in names if re.match(pattern, name)}
    for path in (DEPLOY / "hpa").glob("*.yaml"):
        for metric in yaml.safe_load(path.read_text())["spec"]["metrics"]:
            assert metric["external"]["metric"]["name"] in served


def test_the_scrape_config_sets_the_labels_that_the_adapter_needs():
    (job,) = yaml.safe_load((PROMETHEUS / "scrape.yaml").read_text())["scrape_configs"]
    assert {"application", "namespace"} <= {
        config.get("target_label") for config in job["relabel_configs"]
    }
    # Prometheus also renames a label of the driver that the target already has.
    assert job["metric_relabel_configs"] == [
        {"regex": "exported_application", "action": "labeldrop"}
    ]


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs Debian's package prometheus")
@pytest.mark.parametrize(
    "arguments", ["check rules recording-rules.yaml", "test rules recording-rules.test.yaml"]
)
def test_promtool_agrees(arguments):
    done = subprocess.run(
        ["promtool", *arguments.split()], cwd=PROMETHEUS, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
