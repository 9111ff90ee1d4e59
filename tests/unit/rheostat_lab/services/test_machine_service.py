from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from rheostat.errors import BadInput, RheostatError
from rheostat_lab.services import service


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    yield tmp_path / "rheostat"
    service.end("sleeper")


def sleeper(
    tmp_path: Path, command: str = "sleep 60 & setsid sleep 60 & sleep 60"
) -> service.Service:
    return service.start(
        "sleeper", ["sh", "-c", command], url="nowhere", folder=tmp_path, log=tmp_path / "log"
    )


def test_a_started_service_is_registered_and_detached(tmp_path: Path) -> None:
    started = sleeper(tmp_path)
    assert service.find("sleeper") == started
    assert psutil.Process(started.pid) not in psutil.Process().children(recursive=True)


def test_ending_a_service_ends_all_its_processes(tmp_path: Path) -> None:
    started = sleeper(tmp_path)
    process = psutil.Process(started.pid)
    family = [process, *process.children(recursive=True)]
    assert service.end("sleeper") == started
    assert [
        member
        for member in family
        if member.is_running() and member.status() != psutil.STATUS_ZOMBIE
    ] == []
    assert service.find("sleeper") is None


def test_a_second_service_of_the_same_name_is_rejected(tmp_path: Path) -> None:
    started = sleeper(tmp_path)
    with pytest.raises(
        BadInput, match=rf"sleeper is already running at nowhere \(process {started.pid}\)"
    ):
        sleeper(tmp_path)


def test_another_process_with_a_reused_pid_is_not_ended(tmp_path: Path, state: Path) -> None:
    started = sleeper(tmp_path)
    file = state / "sleeper.json"
    kept = file.read_text()
    file.write_text(json.dumps({**json.loads(kept), "created_s": started.created_s - 3600}))
    assert service.find("sleeper") is None
    assert service.end("sleeper") is None
    assert psutil.pid_exists(started.pid)
    file.write_text(kept)  # so that it can be stopped


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": "sleeper"}'])
def test_an_unreadable_state_file_means_that_no_service_runs(state: Path, text: str) -> None:
    state.mkdir()
    (state / "sleeper.json").write_text(text)
    assert service.find("sleeper") is None
    assert service.end("sleeper") is None


def test_a_service_that_cannot_start_is_reported_with_its_log(tmp_path: Path) -> None:
    with pytest.raises(RheostatError, match=r"sleeper could not be started; see .*log"):
        service.start(
            "sleeper", ["/no/such/program"], url="", folder=tmp_path, log=tmp_path / "log"
        )
