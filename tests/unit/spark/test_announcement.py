from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from rheostat.model import Capabilities
from rheostat.policies.default_policy import DEFAULT_POLICY
from rheostat.settings import settings_of
from rheostat.spark.announcement import announcement, beyond_ceiling, log_lines

ABLE = Capabilities(can_scale=True)
UNABLE = Capabilities(can_scale=False, cannot=("one thing", "another"))
SAYS = """
import logging, sys
{configured}
from rheostat.spark.announcement import log_lines
log_lines([(logging.INFO, "what it does"), (logging.WARNING, "what it cannot")])
"""


def lines(capabilities: Capabilities = ABLE, **given: object) -> list[str]:
    settings = settings_of(**given)
    return [line for _, line in announcement(settings, capabilities, Path("kept"), "STOP")]


def test_policy_limits_objective_journal_and_kill_switch_are_said():
    said = "\n".join(lines(limits=(2, 4), slo=5))
    for part in (DEFAULT_POLICY, "2 to 4 executors", "5 s", "kept", "touch kept/STOP"):
        assert part in said


def test_the_switch_of_a_checkpoint_is_named_where_it_is_looked_for_only():
    for looked_for in (True, False):
        said = announcement(settings_of(), ABLE, Path("kept"), "STOP", by_checkpoint=looked_for)
        assert ("rheostat halt CHECKPOINT" in said[1][1]) == looked_for


@pytest.mark.parametrize("capabilities", [ABLE, UNABLE])
@pytest.mark.parametrize("kafka", [None, "broker:9092"])
def test_it_takes_at_most_five_lines(capabilities, kafka):
    assert 2 <= len(lines(capabilities, kafka=kafka, standby=1)) <= 5


def test_what_cannot_be_done_is_one_line():
    assert lines(UNABLE)[2] == "rheostat: one thing; another"
    assert "rheostat: " not in lines(ABLE)


def test_limits_that_were_not_given_are_said_to_be_defaults():
    assert "1 to 8 executors" in lines()[0]
    assert "; limits= is not given" in lines()[0]
    assert "not given" not in lines(limits=(1, 8))[0]


@pytest.mark.parametrize(
    ("configured", "seen"),
    [
        ("", ["what it does", "what it cannot"]),
        ("logging.basicConfig(format='%(message)s')", ["what it cannot"]),
        (
            "logging.basicConfig(format='mine %(message)s', level='INFO')",
            ["mine what it does", "mine what it cannot"],
        ),
        ("logging.getLogger('rheostat').setLevel('ERROR')", []),
    ],
    ids=["no logging", "warnings", "everything", "only errors"],
)
def test_all_is_seen_with_pythons_own_logging_and_a_users_logging_stays_his(configured, seen):
    ran = subprocess.run(
        [sys.executable, "-c", SAYS.format(configured=configured)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stderr.splitlines() == seen


def test_what_is_logged_has_its_level(caplog):
    with caplog.at_level(logging.INFO, logger="rheostat"):
        log_lines([(logging.INFO, "a 100 % plain line"), (logging.WARNING, "b")])
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("INFO", "a 100 % plain line"),
        ("WARNING", "b"),
    ]


def test_limits_below_what_is_there_are_said_because_executors_will_leave():
    said = beyond_ceiling(settings_of(limits=(1, 2)), 5)
    assert said == "5 executors are registered and limits= allows 2, so 3 will leave"


@pytest.mark.parametrize(("limits", "registered"), [((1, 5), 5), ((1, 8), 3), (None, 12)])
def test_limits_that_allow_what_is_there_or_are_no_wish_are_not(limits, registered):
    assert beyond_ceiling(settings_of(limits=limits), registered) is None


@pytest.mark.parametrize("known", [False, True])
def test_where_the_lag_comes_from_is_said_unless_it_is_known_anyway(known, tmp_path):
    can = Capabilities(can_scale=True)
    said = announcement(settings_of(), can, tmp_path, "STOP", known)
    assert any("no kafka= given" in line for _, line in said) is not known
