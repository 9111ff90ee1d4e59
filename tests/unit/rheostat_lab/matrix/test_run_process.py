"""A run in its own process: what it plays, and how it ends."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from rheostat.errors import RheostatError
from rheostat_lab.demo.demo_options import Demo
from rheostat_lab.matrix import run_process
from rheostat_lab.matrix.matrix_spec import MatrixSpec

SPEC = MatrixSpec(
    experiment="matrix",
    minutes=1,
    queries=("q1",),
    loads={"low": "constant:rate=100"},
    policies=("hpa", {"policy": "fixed", "set": {"executors": [2, 3]}}),
    seeds=(3,),
)


class FakeChild:
    """A child process with these arguments that runs until it is stopped, or ends at once."""

    exit_code: int | None = None
    stopped = False

    def __init__(self, command: list[str], *, log: Path, holds: list[int]) -> None:
        type(self).command = command
        log.write_text("starting\nthe computer is on fire\n")

    command: list[str]

    def wait(self, timeout_s: float) -> int | None:
        return self.exit_code

    def __enter__(self) -> FakeChild:
        return self

    def __exit__(self, *_: object) -> None:
        type(self).stopped = True


def test_a_run_is_that_of_the_specification_that_the_lab_has_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[Demo] = []
    monkeypatch.setattr(run_process, "perform_run", played.append)
    run_process.main(json.dumps(asdict(SPEC)), 2, tmp_path)
    assert played == [SPEC.demo(list(SPEC.cells())[2], tmp_path)]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (None, "was ended after 900 s more than its load"),
        (1, "ended with exit code 1 and without a summary: the computer is on fire"),
    ],
)
def test_a_run_that_hangs_or_has_no_summary_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int | None, message: str
) -> None:
    class Ended(FakeChild):
        exit_code = code

    monkeypatch.setattr(run_process, "Child", Ended)
    with pytest.raises(RheostatError, match=message):
        run_process.play(SPEC, 0, tmp_path / "run", 3)
    assert Ended.stopped
    assert Ended.command[-2:] == ["0", str(tmp_path / "run")]
