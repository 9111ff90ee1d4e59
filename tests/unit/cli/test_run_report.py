"""The machine-readable report of ``rheostat run``, and the settings that it would apply."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.cli.app import run
from rheostat.cli.run import executor_seconds, report, write_report
from rheostat.journal.folder import FolderJournal
from rheostat.local.app_run import Application, Request
from rheostat.model import Capabilities, Decision, Limits, Observation, Record, Rescaling
from rheostat.policies.default_policy import DEFAULT_POLICY
from rheostat.settings import Settings


def tick(t_s: float, executors: int | None, target: int) -> Record:
    return Record(
        t_s=t_s,
        observation=Observation(t_s=t_s, executors=executors),
        queries=(),
        raw=Decision(target=target, reason="so"),
        guards=(),
        target=target,
        actions=(),
        rescaling=Rescaling(phase="steady"),
    )


@pytest.fixture
def request_of(tmp_path: Path) -> Request:
    kafka = {"bootstrap.servers": "a:1", "sasl.password": "hunter2"}
    return Request(script=tmp_path / "app.py", settings=Settings(kafka=kafka))


@pytest.fixture
def application(tmp_path: Path) -> Application:
    journal = FolderJournal(tmp_path / "journal")
    for record in (tick(1, 9, 9), tick(10, 1, 1), tick(1810, 1, 2), tick(3610, 2, 2)):
        journal.append(record, {})
    handle: Any = SimpleNamespace(
        journal=journal.folder, capabilities=Capabilities(can_scale=True, cannot=("this",))
    )
    return Application("app-1", handle, Limits.between(1, 2), 4, since_s=5.0)


def test_the_report_of_a_run_is_derived_from_its_journals(
    request_of: Request, application: Application, tmp_path: Path
) -> None:
    result = report(request_of, [application], 7)
    assert result["exit_code"] == 7
    assert result["limits"] == {"min": 1, "max": 8}
    assert result["applications"] == [
        {
            "application": "app-1",
            "journal": str(tmp_path / "journal"),
            "limits": {"min": 1, "max": 2},
            "scales": True,
            "cannot": ["this"],
            "decisions": 3,
            "rescalings": 1,
            "slot_hours": 4.0,
        }
    ]


def test_the_report_contains_no_kafka_secret(request_of: Request, application: Application) -> None:
    assert "hunter2" not in json.dumps(report(request_of, [application], 0))


def test_the_report_is_one_line_on_stderr_and_in_the_file(
    request_of: Request, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_report(request_of, [], 0, True, tmp_path / "told.json")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", (tmp_path / "told.json").read_text())
    assert json.loads(shown.err)["policy"] == DEFAULT_POLICY


def test_the_cost_is_unknown_if_executors_were_never_counted() -> None:
    assert executor_seconds([tick(0, None, 1), tick(5, None, 1)]) is None
    assert executor_seconds([]) is None


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "app.py").write_text("raise SystemExit('the script must not be run')")
    (tmp_path / "spark-defaults.conf").write_text("spark.executor.cores 4\nspark.cores.max 8\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    return str(tmp_path / "app.py")


def test_show_settings_prints_their_origin_and_starts_nothing(
    app: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["run", "--show-settings", "--master", "spark://a:1", app]) == 0
    shown = capsys.readouterr().out
    file = tmp_path / "spark-defaults.conf"
    assert (
        f"spark.executor.cores = 4\n    {file}: otherwise an executor occupies a whole worker"
        in shown
    )
    assert "spark.dynamicAllocation.maxExecutors = 2\n    rheostat: the ceiling\n" in shown
    assert f"spark.cores.max=8 ({file}) has room for 2 executors of 4: 1 to 2" in shown
    assert shown.splitlines()[-1].startswith("1 to 2 executors. ")


def test_settings_are_shown_as_json(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "--show-settings", "--json", app]) == 0
    result = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row for row in result["settings"]}
    assert result["limits"] == {"min": 1, "max": 2}
    assert rows["spark.executor.cores"]["set"] is False
    assert rows["spark.executor.memory"]["from"] == "rheostat"
    assert rows["spark.master"]["value"] == "spark://a cluster on this computer"


def test_a_minimum_of_0_starts_with_one_executor(
    app: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", "--show-settings", "--json", "--min", "0", "--master", "yarn", app]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["limits"]["min"] == 0
    rows = {row["name"]: row["value"] for row in result["settings"]}
    assert rows["spark.executor.instances"] == "1"


def test_shadow_mode_on_a_user_cluster_sets_nothing(
    app: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", "--show-settings", "--shadow", "--master", "yarn", "--json", app]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)["settings"]] == [
        "spark.master"
    ]


def test_an_unwritable_output_file_is_rejected_before_the_script_runs(
    app: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", "--out", "/no/such/folder/x.json", app]) == 2
    assert capsys.readouterr().err.startswith("rheostat: /no/such/folder/x.json cannot be written")


def test_an_invalid_kafka_value_is_rejected(app: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "--kafka", "broker", app]) == 2
    assert "must be host:port or a properties file" in capsys.readouterr().err
