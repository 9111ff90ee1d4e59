"""``rheostat status`` and ``rheostat savings``."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.journal.test_totals import record, start

from rheostat.cli.app import run
from rheostat.cli.status import alive
from rheostat.journal.folder import FolderJournal
from rheostat.journal.starts import Checkpoints
from rheostat.storage.lease import this_process


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path / "home" / "rheostat" / "journal"


def write(folder: Path, latency_s: float = 2.0) -> Path:
    now = time.time()
    kept = FolderJournal(folder)
    kept.note(start(t_s=now - 105, price=0.5, serve="127.0.0.1:8085", kafka="broker:9092"))
    kept.note(Checkpoints(t_s=now - 100, checkpoints=("/data/orders",)))
    for tick in range(21):
        t_s = now - 101 + 5 * tick
        kept.append(record(t_s, 3, 3, input_rows_per_s=100.0, latency_s=latency_s), {})
    return folder


def shown(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> str:
    assert run([str(argument) for argument in arguments]) == code
    return capsys.readouterr().out


def test_one_job_fits_on_one_screen(capsys, state):
    out = shown(capsys, "status", write(state / "app-1"))
    assert all(
        text in out
        for text in (
            "running since",
            "live, policy predictive, 1 to 8 executors, objective 10 s",
            "3 executors of 2 slots, target 3",
            "100 rows/s arrive, backlog unknown rows, latency 2.0 s, objective 10.0 s",
            "broker:9092: unknown",
            "127.0.0.1:8085",
            "/data/orders",
            "not set (",
            "against the ceiling of 8 executors",
            "healthy",
        )
    )
    assert len(out.splitlines()) <= 24


def test_an_unhealthy_job_exits_with_1_and_names_its_problem(capsys, state):
    out = shown(capsys, "status", write(state / "app-1", latency_s=30.0), code=1)
    assert "the latency is 30.0 s, the objective 10 s" in out


def test_without_a_name_all_local_journals_are_listed(capsys, state):
    for name in ("app-1", "app-2"):
        write(state / name)
    out = shown(capsys, "status")
    assert out.count("running") == 2
    assert len(out.splitlines()) == 3


def test_a_checkpoint_identifies_its_job(capsys, state):
    folder = write(state / "app-1")
    answers = json.loads(shown(capsys, "status", "/data/orders", "--json"))
    assert [answer["journal"] for answer in answers] == [str(folder)]


def test_an_unknown_job_is_rejected_in_one_line(capsys, state, tmp_path):
    assert run(["status"]) == 2
    assert "no journal was written in the last seven days" in capsys.readouterr().err
    assert run(["status", str(tmp_path)]) == 2
    assert "not a journal, a control endpoint HOST:PORT, or a checkpoint" in capsys.readouterr().err
    assert run(["status", "127.0.0.1:1"]) == 1
    assert "does not answer as a control endpoint" in capsys.readouterr().err
    write(tmp_path / "journal")
    assert run(["status", str(tmp_path)]) == 2
    assert f"but there is one in {tmp_path / 'journal'}" in capsys.readouterr().err


def test_a_killed_process_and_a_reused_pid_are_detected():
    here = this_process()
    own = start(host=here.host, pid=here.pid, process_started=here.started)
    assert alive(own) is True
    assert alive(replace(own, process_started="an earlier process")) is False
    assert alive(replace(own, host="elsewhere")) is None
    assert alive(start()) is None


def test_savings_are_shown_by_day_in_slot_hours_and_money(capsys, state):
    folder = write(state / "app-1")
    (answer,) = json.loads(shown(capsys, "savings", folder, "--against", "6", "--json"))
    total = answer["total"]
    assert total["slot_h"] == pytest.approx(100 * 6 / 3600)
    assert total["saved_slot_h"] == pytest.approx(100 * 6 / 3600)
    assert total["saved_money"] == pytest.approx(0.5 * 100 * 6 / 3600)
    out = shown(capsys, "savings", folder, "--since", "7d", "--price-per-slot-hour", "2")
    assert "total" in out
    assert "money" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--since", "week"], "--since must be a time such as 7d or 12h, but it is 'week'"),
        (["--against", "most"], "--against must be a number of executors, max or before"),
    ],
)
def test_invalid_savings_options_are_rejected_in_one_line(capsys, state, arguments, message):
    assert run(["savings", str(write(state / "app-1")), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_savings_without_a_journal_are_rejected(capsys, tmp_path):
    assert run(["savings", str(tmp_path)]) == 2
    assert "there is no journal in" in capsys.readouterr().err
