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


def test_the_restarts_are_told_with_their_downtime(
    capsys: pytest.CaptureFixture[str], journal: Path
) -> None:
    assert run(["restart", str(journal)]) == 0
    assert capsys.readouterr().out == LINE
    assert run(["restart", str(journal), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["restarts"][0]["down_s"] == 9.5


def test_an_order_needs_a_supervisor(capsys: pytest.CaptureFixture[str], journal: Path) -> None:
    assert run(["restart", str(journal), "--executors", "2"]) == 2
    assert "no supervisor runs for the journal" in capsys.readouterr().err
    assert ControlChannel(journal / FOLDER).request(PERSON) is None


def test_an_order_is_left_for_the_supervisor(
    capsys: pytest.CaptureFixture[str], journal: Path
) -> None:
    with supervised._alone(journal / FOLDER, journal):
        assert run(["restart", str(journal), "--executors", "2"]) == 0
    wish = ControlChannel(journal / FOLDER).request(PERSON)
    assert wish is not None
    assert (wish.executors, wish.partitions) == (2, None)
    assert "Restart requested" in capsys.readouterr().out


def test_partitions_need_a_checkpoint_of_this_computer(
    capsys: pytest.CaptureFixture[str], journal: Path
) -> None:
    with supervised._alone(journal / FOLDER, journal):
        assert run(["restart", str(journal), "--partitions", "9"]) == 2
    assert "no checkpoint of the job is a folder of this computer" in capsys.readouterr().err
    assert ControlChannel(journal / FOLDER).request(PERSON) is None


def test_a_journal_of_no_supervised_job_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["restart", str(tmp_path)]) == 2
    assert "is no journal of a supervised job" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
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
    ],
)
def test_options_that_cannot_be_used_are_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, given: list[str], said: str
) -> None:
    script = tmp_path / "app.py"
    script.write_text("")
    assert run(["run", *given, "--journal", str(tmp_path / "journal"), str(script)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_supervisor_begins_where_an_earlier_one_was_killed() -> None:
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
def test_a_supervisor_begins_with_what_the_start_needs_unless_a_restart_is_under_way(
    last: RestartState | None, executors: int
) -> None:
    assert first_restart_state(last, Limits.between(1, 8), 0, initial=4).executors == executors


def test_a_job_that_has_ended_begins_anew_at_its_size_within_the_limits() -> None:
    story = first_restart_state(
        RestartState(phase="ended", executors=6, restarts=3, run=5), Limits.between(1, 4), 0
    )
    assert (story.phase, story.executors, story.number, story.restarts) == ("stopped", 4, 0, 3)
