"""``rheostat restart`` and the options of restarts: the output, and the rejected inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rheostat.cli.app import run
from rheostat.journal.control_channel import FOLDER, PERSON, ControlChannel
from rheostat.model import Limits
from rheostat.restart import supervised
from rheostat.restart.restart_state import RestartLog, RestartState
from rheostat.restart.supervised import first_restart_state

DONE = RestartState(
    phase="running",
    number=1,
    restarts=1,
    run=2,
    executors=2,
    executors_before=1,
    partitions=6,
    partitions_before=3,
    reason="ordered by a user",
    down_s=9.5,
    spent_s={"draining": 0.5, "repartitioning": 4.0, "starting": 5.0},
)
LINE = (
    "restart 1: 1 -> 2 executors, 3 -> 6 state partitions: downtime 9.5 s (draining 0.5 s,"
    " repartitioning 4.0 s, starting 5.0 s); ordered by a user\n"
)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    RestartLog(tmp_path / FOLDER).append(DONE)
    return tmp_path


def test_restarts_are_listed_with_their_downtime(
    capsys: pytest.CaptureFixture[str], journal: Path
) -> None:
    assert run(["restart", str(journal)]) == 0
    assert capsys.readouterr().out == LINE
    assert run(["restart", str(journal), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["restarts"][0]["down_s"] == 9.5


def test_a_restart_request_needs_a_supervisor(
    capsys: pytest.CaptureFixture[str], journal: Path
) -> None:
    assert run(["restart", str(journal), "--executors", "2"]) == 2
    assert "no supervisor runs for the journal" in capsys.readouterr().err
    assert ControlChannel(journal / FOLDER).request(PERSON) is None


def test_a_restart_request_is_stored_for_the_supervisor(
    capsys: pytest.CaptureFixture[str], journal: Path
) -> None:
    with supervised._alone(journal / FOLDER, journal):
        assert run(["restart", str(journal), "--executors", "2"]) == 0
    request = ControlChannel(journal / FOLDER).request(PERSON)
    assert request is not None
    assert (request.executors, request.partitions) == (2, None)
    assert "Restart requested" in capsys.readouterr().out


def test_partitions_need_a_local_checkpoint(
    capsys: pytest.CaptureFixture[str], journal: Path
) -> None:
    with supervised._alone(journal / FOLDER, journal):
        assert run(["restart", str(journal), "--partitions", "9"]) == 2
    assert "no checkpoint of the job is a folder of this computer" in capsys.readouterr().err
    assert ControlChannel(journal / FOLDER).request(PERSON) is None


def test_a_journal_without_a_supervised_job_is_rejected(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["restart", str(tmp_path)]) == 2
    assert "is not the journal of a supervised job" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--partitions", "8"], "--partitions need --actuator restart"),
        (["--actuator", "rolling"], "must be one of live, restart, but it is 'rolling'"),
        (["--actuator", "restart", "--partitions", "-1"], "from 1 to 32768, but it is -1"),
        (["--actuator", "restart", "--allow-repartition"], "needs --maintenance-window"),
        (
            ["--actuator", "restart", "--maintenance-window", "02:00-04:00"],
            "needs --allow-repartition",
        ),
        (
            ["--actuator", "restart", "--allow-repartition", "--maintenance-window", "2-4"],
            "is not a time of day",
        ),
        (["--actuator", "restart", "--restart-pause", "-1"], "at least 0, but it is -1"),
        (["--actuator", "restart", "--shadow"], "exclude each other"),
        (["--actuator", "restart", "--min", "0"], "--min 0 needs live rescaling"),
    ],
)
def test_unusable_options_are_rejected_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, given: list[str], message: str
) -> None:
    script = tmp_path / "app.py"
    script.write_text("")
    assert run(["run", *given, "--journal", str(tmp_path / "journal"), str(script)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_supervisor_continues_an_interrupted_restart() -> None:
    assert first_restart_state(DONE, Limits.between(1, 8), 0) == DONE


@pytest.mark.parametrize(
    ("last", "executors"),
    [
        (None, 4),
        (RestartState(phase="running", executors=2), 4),
        (RestartState(phase="ended", executors=6), 6),
        (RestartState(phase="stopping", executors=2), 2),
    ],
)
def test_a_supervisor_starts_with_the_initial_size_unless_a_restart_is_pending(
    last: RestartState | None, executors: int
) -> None:
    assert first_restart_state(last, Limits.between(1, 8), 0, initial=4).executors == executors


def test_an_ended_job_restarts_at_its_size_within_the_limits() -> None:
    state = first_restart_state(
        RestartState(phase="ended", executors=6, restarts=3, run=5), Limits.between(1, 4), 0
    )
    assert (state.phase, state.executors, state.number, state.restarts) == ("stopped", 4, 0, 3)
