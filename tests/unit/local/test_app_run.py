"""The environment of a script's applications: settings, cluster, journals."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.clusters.scaling_settings import Given
from rheostat.errors import BadInput
from rheostat.journal.control_channel import Order
from rheostat.journal.folder import FolderJournal
from rheostat.local import app_run
from rheostat.local.app_run import AppRun, Request, plan
from rheostat.model import Capabilities, Limits, Record, Rescaling
from rheostat.settings import Settings, merge, settings_of
from rheostat.spark import session

URL = "spark://user:7077"
CORES, CORES_MAX, MASTER = "spark.executor.cores", "spark.cores.max", "spark.master"
INITIAL = "spark.dynamicAllocation.initialExecutors"


class FakeCluster:
    """A cluster that records how it was started."""

    started: list[tuple[int, int]]
    url = "spark://127.0.0.1:1"

    def __init__(self, cores: int, memory_mib: int) -> None:
        self.started.append((cores, memory_mib))
        self.folder = Path()

    def driver_environment(self) -> dict[str, str]:
        return {}

    def __enter__(self) -> FakeCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.started.append((0, 0))


@pytest.fixture(autouse=True)
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    environment = dict(os.environ)
    FakeCluster.started = []
    monkeypatch.setattr(app_run, "Cluster", FakeCluster)
    monkeypatch.setattr(app_run, "arrivals", lambda *_: (None, None))
    monkeypatch.setattr(app_run, "source_jars", lambda: SimpleNamespace(paths=[Path("/k.jar")]))
    yield
    os.environ.clear()
    os.environ.update(environment)


def request(tmp_path: Path, given: Mapping[str, str] | None = None, **more: Any) -> Request:
    (tmp_path / "app.py").touch()
    origins = {name: Given(value, "a file") for name, value in (given or {}).items()}
    options = {"settings": Settings(), **more}
    return Request(script=tmp_path / "app.py", given=origins, **options)


def test_without_a_master_one_cluster_is_started_with_the_users_executors(
    tmp_path: Path,
) -> None:
    conf = {CORES: "2", "spark.executor.memory": "3g"}
    with AppRun(request(tmp_path, conf, local=3)) as run:
        session_settings = run.settings({})
        run.settings({CORES: "2"})
    assert FakeCluster.started == [(6, 1536), (0, 0)]
    assert session_settings[MASTER] == FakeCluster.url
    assert not set(conf) & set(session_settings)


@pytest.mark.parametrize(("own", "given"), [({}, {MASTER: URL}), ({MASTER: "local[2]"}, {})])
def test_no_cluster_is_started_when_a_master_is_set(
    tmp_path: Path, own: dict[str, str], given: dict[str, str]
) -> None:
    with AppRun(request(tmp_path, given)) as run:
        assert MASTER not in run.settings(own)
    assert FakeCluster.started == []


def test_the_command_line_master_overrides_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--master yarn pyspark-shell")
    with AppRun(request(tmp_path, {MASTER: "yarn"}, master=URL)) as run:
        session_settings = run.settings({})
    assert session_settings[MASTER] == URL
    assert session_settings[CORES_MAX] == "8"
    assert os.environ["PYSPARK_SUBMIT_ARGS"].endswith(f"--master {URL} pyspark-shell")


def test_the_scripts_master_overrides_the_command_line_and_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="rheostat")
    with AppRun(request(tmp_path, master=URL)) as run:
        assert run.settings({MASTER: "local[2]"}) == {}
    assert caplog.messages == [
        f"rheostat: spark.master=local[2] (the script): --master {URL} is not used"
    ]


def test_the_session_starts_at_the_final_size_of_the_previous_run(
    tmp_path: Path,
) -> None:
    journal = FolderJournal(tmp_path / "journal")
    journal.append(
        Record(
            t_s=time.time() - 60,
            observation=None,
            queries=(),
            raw=None,
            guards=(),
            target=6,
            actions=(),
            rescaling=Rescaling(phase="steady"),
        ),
        {},
    )
    settings = settings_of(journal=tmp_path / "journal", limits=(1, 8), kafka="127.0.0.1:1")
    base_request = request(tmp_path, master=URL, settings=settings)
    assert plan(base_request, {}).settings[INITIAL] == "6"
    assert (
        plan(
            replace(base_request, settings=replace(settings, limits=Limits.between(1, 4))), {}
        ).initial
        == 4
    )
    assert plan(replace(base_request, order=Order(run=1, executors=2)), {}).settings[INITIAL] == "2"
    (tmp_path / "journal" / "segment-00000.jsonl").unlink()
    assert plan(base_request, {}).settings[INITIAL] == "1"


def test_shadow_mode_sets_nothing_on_the_users_cluster(tmp_path: Path) -> None:
    assert plan(request(tmp_path, {MASTER: URL}, shadow=True), {}).settings == {}
    assert plan(request(tmp_path, master=URL, shadow=True), {}).settings == {MASTER: URL}


def test_the_kafka_connector_precedes_the_users_class_path(tmp_path: Path) -> None:
    path = "spark.driver.extraClassPath"
    app_request = request(
        tmp_path, {path: "/u.jar"}, settings=Settings(kafka={"bootstrap.servers": "a"})
    )
    with AppRun(app_request) as run:
        assert run.settings({})[path] == "/k.jar:/u.jar"


def test_settings_for_the_users_cluster_are_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="rheostat")
    with AppRun(request(tmp_path, {MASTER: URL})) as run:
        for _ in range(2):
            run.settings({})
    (line,) = caplog.messages
    assert "settings of Spark that you have not set, spark.executor.cores=1 among them" in line


class FakeSession:
    """A session of an application."""

    def __init__(self, application: str) -> None:
        self.sparkContext = self
        self.applicationId = application

    def getConf(self) -> dict[str, str]:  # noqa: N802
        return {CORES: "2"}


def test_every_application_has_its_own_limits_and_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sized: list[tuple[str, Limits, Path | str | None]] = []

    def size(spark: FakeSession, settings: Settings, gives_way: bool) -> Any:
        sized.append((spark.applicationId, settings.limits, settings.journal))
        return SimpleNamespace(journal=settings.journal, capabilities=Capabilities(can_scale=True))

    monkeypatch.setattr(session, "autoscale", size)
    journal = tmp_path / "journal"
    app_request = request(
        tmp_path, {MASTER: URL, CORES_MAX: "8"}, settings=Settings(journal=journal)
    )
    with AppRun(app_request) as run:
        run.settings({CORES: "4"})
        run.session(FakeSession("app-1"))
        run.settings({CORES: "2"})
        run.session(FakeSession("app-2"))
    assert sized == [
        ("app-1", Limits.between(1, 2), journal),
        ("app-2", Limits.between(1, 4), journal / "app-2"),
    ]
    assert [application.slots_per_executor for application in run.applications] == [2, 2]


def test_no_application_is_autoscaled_after_the_kill_switch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(
        session,
        "autoscale",
        lambda _, settings, gives_way: SimpleNamespace(
            journal=settings.journal, capabilities=Capabilities(can_scale=True)
        ),
    )
    (tmp_path / "STOP").touch()
    with AppRun(request(tmp_path, {MASTER: URL}, settings=Settings(journal=tmp_path))) as run:
        run.session(FakeSession("app-1"))
        assert run.session(FakeSession("app-2")) is None
    assert "STOP is set" in caplog.messages[-1]


UNWRITABLE = Path("/proc/self/journal")
"""A path that no user can create, including root."""


@pytest.mark.parametrize("named", [True, False])
def test_an_unwritable_journal_leaves_spark_settings_unchanged(
    named: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(session, "autoscale", lambda *_, **__: pytest.fail("it was attached"))
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/self")
    journal = UNWRITABLE if named else None
    with AppRun(request(tmp_path, {MASTER: URL}, settings=Settings(journal=journal))) as run:
        assert run.settings({}) == {}
        assert run.session(FakeSession("app-1")) is None
    (line,) = caplog.messages
    assert line.startswith("rheostat: not attached, the job runs with Spark's own settings: ")
    assert "cannot be written: No such file or directory" in line


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"spark.rheostat.slow": "5"}, "spark.rheostat.slow is not a setting of Rheostat"),
        ({"spark.rheostat.policy": "absent_module:Policy"}, "cannot be loaded"),
        ({"spark.rheostat.kafka": " "}, "bootstrap.servers must be 'host:port'"),
    ],
)
def test_invalid_settings_are_rejected_before_anything_starts(
    own: dict[str, str], message: str, tmp_path: Path
) -> None:
    app_request = request(tmp_path, cli={})
    with AppRun(app_request) as run, pytest.raises(BadInput, match=message):
        run.settings(own)
    assert FakeCluster.started == []


class FakeExecutors:
    """Records the totals that Spark is requested to provide."""

    def __init__(self) -> None:
        self.totals: list[int] = []
        self.executors = self

    def request_total(self, executors: int) -> bool:
        self.totals.append(executors)
        return True


@pytest.fixture
def executors(monkeypatch: pytest.MonkeyPatch) -> FakeExecutors:
    fake = FakeExecutors()
    monkeypatch.setattr(app_run, "internals_of", lambda _: fake)
    return fake


@pytest.mark.parametrize("fault", [BadInput("no such thing"), OSError("the broker is away")])
def test_a_failed_attach_restores_the_size_of_the_spark_settings(
    fault: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executors: FakeExecutors
) -> None:
    def size(*_: Any, **__: Any) -> Any:
        raise fault

    monkeypatch.setattr(session, "autoscale", size)
    settings = Settings(journal=tmp_path / "journal", limits=Limits.between(1, 4))
    app_request = request(tmp_path, {MASTER: URL, CORES_MAX: "12", CORES: "2"}, settings=settings)
    with AppRun(app_request) as run:
        run.settings({})
        with pytest.raises(type(fault), match=str(fault)):
            run.session(FakeSession("app-1"))
    assert executors.totals == [6]


@pytest.mark.parametrize("able", [True, False])
def test_an_autoscaler_that_cannot_scale_restores_the_size(
    able: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executors: FakeExecutors
) -> None:
    handle = SimpleNamespace(journal=tmp_path, capabilities=Capabilities(can_scale=able))
    monkeypatch.setattr(session, "autoscale", lambda *_, **__: handle)
    settings = Settings(journal=tmp_path / "journal", limits=Limits.between(1, 4))
    with AppRun(request(tmp_path, {MASTER: URL}, settings=settings)) as run:
        run.settings({})
        assert run.session(FakeSession("app-1")) is handle
    assert executors.totals == ([] if able else [4])


def test_rheostat_settings_of_a_script_apply_to_its_application_only(tmp_path: Path) -> None:
    conf = {MASTER: URL, CORES: "1", "spark.rheostat.limits.max": "8"}
    with AppRun(request(tmp_path, conf, settings=merge(conf=conf), cli={})) as run:
        assert run.settings({"spark.rheostat.limits.max": "3"})[CORES_MAX] == "3"
        assert run.request.settings.limits == Limits.between(1, 3)
        assert run.settings({})[CORES_MAX] == "8"
