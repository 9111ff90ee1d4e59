"""A repartition that is killed at any change of a file loses nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.repartition.dying_disk import MOMENTS

from rheostat.protocols.repartition import CLOSED, OPEN_NEW, OPEN_OLD

Points = list[dict[str, Any]]

BETWEEN = {"verified": {"refused"}, "placed": {"7"}, "withdrawing": {"7", "4"}}
"""Facts after a kill between an order and the journal entry of its phase."""

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Points:
    """Every point of ``kill_points.py``, which has compared all outputs with those of an
    uninterrupted run.
    """
    command = [sys.executable, "-m", "tests.unit.repartition.kill_points"]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), str(ROOT / "rheostat-lab" / "src")])
    run = subprocess.run(
        [*command, str(tmp_path_factory.mktemp("killed"))],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_kill_points_cover_every_phase_before_and_during_a_change(points: Points) -> None:
    assert len(points) >= 60
    assert {point["moment"] for point in points} == set(MOMENTS)
    assert {point["phase"] for point in points} >= CLOSED | OPEN_NEW | OPEN_OLD


def test_a_resumed_repartition_has_the_new_number_and_correct_output(
    points: Points,
) -> None:
    assert {point["resumed"] for point in points if point["way"] == "forth"} == {"7"}


def test_a_rolled_back_repartition_has_the_old_number_and_correct_output(
    points: Points,
) -> None:
    other_phases = {point["phase"] for point in points if point["rolled back"] != "4"}
    assert not other_phases


def test_a_query_started_at_once_is_correct_or_refused(
    points: Points,
) -> None:
    for point in points:
        phase = point["phase"]
        right = {"refused"} if phase in CLOSED else {"7"} if phase in OPEN_NEW else {"4"}
        assert point["started at once"] in right | BETWEEN.get(phase, set()), point


def test_a_rollback_after_the_query_continued_harms_nothing(points: Points) -> None:
    assert {point["rolled back late"] for point in points} <= {"4", "7", "refused"}
