from pathlib import Path
from typing import Any

import pytest

from rheostat.errors import RheostatError
from rheostat_lab.services import logged_session


@pytest.fixture(autouse=True)
def _no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logged_session, "_DRIVERS", [])


def test_driver_output_is_logged_and_one_driver_serves_all_sessions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started: list[str] = []

    def launch(settings: Any, popen_kwargs: dict[str, Any]) -> str:
        popen_kwargs["stdout"].write(b"WARN something\n")
        started.append(settings)
        return "gateway"

    monkeypatch.setattr(logged_session, "launch_gateway", launch)
    log = tmp_path / "new" / "driver.log"
    assert [logged_session._driver("conf", log) for _ in range(2)] == ["gateway"] * 2
    assert started == ["conf"]
    assert log.read_text() == "WARN something\n"


def test_a_driver_start_failure_names_its_log_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def launch(settings: Any, popen_kwargs: dict[str, Any]) -> str:
        raise RuntimeError("Java gateway process exited")

    monkeypatch.setattr(logged_session, "launch_gateway", launch)
    with pytest.raises(RheostatError, match=r"Java gateway process exited.*driver\.log"):
        logged_session._driver("conf", tmp_path / "driver.log")
