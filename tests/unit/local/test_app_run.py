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
    kept = dict(os.environ)
    FakeCluster.started = []
    monkeypatch.setattr(app_run, "Cluster", FakeCluster)
    monkeypatch.setattr(app_run, "arrivals", lambda *_: (None, None))
    monkeypatch.setattr(app_run, "source_jars", lambda: SimpleNamespace(paths=[Path("/k.jar")]))
    yield
    os.environ.clear()
    os.environ.update(kept)


def request(tmp_path: Path, given: Mapping[str, str] | None = None, **more: Any) -> Request:
    (tmp_path / "app.py").touch()
    origins = {name: Given(value, "a file") for name, value in (given or {}).items()}
    made = {"settings": Settings(), **more}
    return Request(script=tmp_path / "app.py", given=origins, **made)


def test_without_a_master_a_cluster_is_started_once_with_the_users_executors(
    tmp_path: Path,
) -> None:
    given = {CORES: "2", "spark.executor.memory": "3g"}
    with AppRun(request(tmp_path, given, local=3)) as around:
        made = around.settings({})
        around.settings({CORES: "2"})
    assert FakeCluster.started == [(6, 1536), (0, 0)]
    assert made[MASTER] == FakeCluster.url
    assert not set(given) & set(made)


@pytest.mark.parametrize(("own", "given"), [({}, {MASTER: URL}), ({MASTER: "local[2]"}, {})])
def test_no_cluster_is_started_where_there_is_a_master(
    tmp_path: Path, own: dict[str, str], given: dict[str, str]
) -> None:
    with AppRun(request(tmp_path, given)) as around:
        assert MASTER not in around.settings(own)
    assert FakeCluster.started == []


def test_the_master_of_the_command_line_goes_before_the_environments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--master yarn pyspark-shell")
    with AppRun(request(tmp_path, {MASTER: "yarn"}, master=URL)) as around:
        made = around.settings({})
    assert made[MASTER] == URL
    assert made[CORES_MAX] == "8"
    assert os.environ["PYSPARK_SUBMIT_ARGS"].endswith(f"--master {URL} pyspark-shell")


def test_the_scripts_own_master_goes_before_the_command_lines_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="rheostat")
    with AppRun(request(tmp_path, master=URL)) as around:
        assert around.settings({MASTER: "local[2]"}) == {}
    assert caplog.messages == [
        f"rheostat: spark.master=local[2] (the script): --master {URL} is not used"
    ]


def test_the_session_starts_with_the_size_at_which_the_previous_run_has_ended(
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
    wanted = request(tmp_path, master=URL, settings=settings)
    assert plan(wanted, {}).settings[INITIAL] == "6"
    assert (
        plan(replace(wanted, settings=replace(settings, limits=Limits.between(1, 4))), {}).initial
        == 4
    )
    assert plan(replace(wanted, order=Order(run=1, executors=2)), {}).settings[INITIAL] == "2"
    (tmp_path / "journal" / "segment-00000.jsonl").unlink()
    assert plan(wanted, {}).settings[INITIAL] == "1"


def test_in_shadow_nothing_is_set_on_a_cluster_of_the_users(tmp_path: Path) -> None:
    assert plan(request(tmp_path, {MASTER: URL}, shadow=True), {}).settings == {}
    assert plan(request(tmp_path, master=URL, shadow=True), {}).settings == {MASTER: URL}


def test_kafkas_source_stands_in_front_of_the_users_class_path(tmp_path: Path) -> None:
    path = "spark.driver.extraClassPath"
    asked = request(tmp_path, {path: "/u.jar"}, settings=Settings(kafka={"bootstrap.servers": "a"}))
    with AppRun(asked) as around:
        assert around.settings({})[path] == "/k.jar:/u.jar"


def test_settings_on_a_cluster_of_the_users_are_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="rheostat")
    with AppRun(request(tmp_path, {MASTER: URL})) as around:
        for _ in range(2):
            around.settings({})
    (line,) = caplog.messages
    assert "settings of Spark that you have not set, spark.executor.cores=1 among them" in line


class FakeSession:
    """A session of an application."""

    def __init__(self, application: str) -> None:
        self.sparkContext = self
        self.applicationId = application

    def getConf(self) -> dict[str, str]:  # noqa: N802
        return {CORES: "2"}


def test_every_application_is_sized_within_its_own_room_and_has_its_own_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sized: list[tuple[str, Limits, Path | str | None]] = []

    def size(spark: FakeSession, settings: Settings, gives_way: bool) -> Any:
        sized.append((spark.applicationId, settings.limits, settings.journal))
        return SimpleNamespace(journal=settings.journal, capabilities=Capabilities(can_scale=True))

    monkeypatch.setattr(session, "size", size)
    journal = tmp_path / "journal"
    asked = request(tmp_path, {MASTER: URL, CORES_MAX: "8"}, settings=Settings(journal=journal))
    with AppRun(asked) as around:
        around.settings({CORES: "4"})
        around.session(FakeSession("app-1"))
        around.settings({CORES: "2"})
        around.session(FakeSession("app-2"))
    assert sized == [
        ("app-1", Limits.between(1, 2), journal),
        ("app-2", Limits.between(1, 4), journal / "app-2"),
    ]
    assert [each.slots_per_executor for each in around.applications] == [2, 2]


def test_after_the_kill_switch_no_further_application_is_sized(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(
        session,
        "size",
        lambda _, settings, gives_way: SimpleNamespace(
            journal=settings.journal, capabilities=Capabilities(can_scale=True)
        ),
    )
    (tmp_path / "STOP").touch()
    with AppRun(request(tmp_path, {MASTER: URL}, settings=Settings(journal=tmp_path))) as around:
        around.session(FakeSession("app-1"))
        assert around.session(FakeSession("app-2")) is None
    assert "STOP is there: it is left alone" in caplog.messages[-1]


UNWRITABLE = Path("/proc/self/journal")
"""A path that no user can create, including root."""


@pytest.mark.parametrize("named", [True, False])
def test_where_the_journal_cannot_be_written_no_setting_of_sparks_is_changed(
    named: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(session, "size", lambda *_, **__: pytest.fail("it was attached"))
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/self")
    journal = UNWRITABLE if named else None
    with AppRun(request(tmp_path, {MASTER: URL}, settings=Settings(journal=journal))) as around:
        assert around.settings({}) == {}
        assert around.session(FakeSession("app-1")) is None
    (line,) = caplog.messages
    assert line.startswith("rheostat: not attached, the job runs as Spark's own settings say: ")
    assert "cannot be written: No such file or directory" in line


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"spark.rheostat.slow": "5"}, "spark.rheostat.slow is no setting of Rheostat"),
        ({"spark.rheostat.policy": "absent_module:Policy"}, "cannot be loaded"),
        ({"spark.rheostat.kafka": " "}, "bootstrap.servers must be 'host:port'"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_before_anything_starts(
    own: dict[str, str], message: str, tmp_path: Path
) -> None:
    asked = request(tmp_path, cli={})
    with AppRun(asked) as around, pytest.raises(BadInput, match=message):
        around.settings(own)
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
def test_where_attaching_fails_after_the_start_the_size_of_sparks_own_settings_is_restored(
    fault: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executors: FakeExecutors
) -> None:
    def size(*_: Any, **__: Any) -> Any:
        raise fault

    monkeypatch.setattr(session, "size", size)
    settings = Settings(journal=tmp_path / "journal", limits=Limits.between(1, 4))
    asked = request(tmp_path, {MASTER: URL, CORES_MAX: "12", CORES: "2"}, settings=settings)
    with AppRun(asked) as around:
        around.settings({})
        with pytest.raises(type(fault), match=str(fault)):
            around.session(FakeSession("app-1"))
    assert executors.totals == [6]


@pytest.mark.parametrize("able", [True, False])
def test_an_autoscaler_that_cannot_scale_does_not_keep_the_size_that_it_has_set(
    able: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executors: FakeExecutors
) -> None:
    handle = SimpleNamespace(journal=tmp_path, capabilities=Capabilities(can_scale=able))
    monkeypatch.setattr(session, "size", lambda *_, **__: handle)
    settings = Settings(journal=tmp_path / "journal", limits=Limits.between(1, 4))
    with AppRun(request(tmp_path, {MASTER: URL}, settings=settings)) as around:
        around.settings({})
        assert around.session(FakeSession("app-1")) is handle
    assert executors.totals == ([] if able else [4])


def test_what_a_script_sets_of_rheostat_holds_for_its_application(tmp_path: Path) -> None:
    given = {MASTER: URL, CORES: "1", "spark.rheostat.limits.max": "8"}
    with AppRun(request(tmp_path, given, settings=merge(conf=given), cli={})) as around:
        assert around.settings({"spark.rheostat.limits.max": "3"})[CORES_MAX] == "3"
        assert around.request.settings.limits == Limits.between(1, 3)
        assert around.settings({})[CORES_MAX] == "8"
