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
SCRIPT = """
import logging, sys
{configured}
from rheostat.spark.announcement import log_lines
log_lines([(logging.INFO, "what it does"), (logging.WARNING, "what it cannot")])
"""


def lines(capabilities: Capabilities = ABLE, **given: object) -> list[str]:
    settings = settings_of(**given)
    return [line for _, line in announcement(settings, capabilities, Path("kept"), "STOP")]


def test_the_announcement_contains_policy_limits_objective_journal_and_kill_switch():
    announced = "\n".join(lines(limits=(2, 4), slo=5))
    for part in (DEFAULT_POLICY, "2 to 4 executors", "5 s", "kept", "touch kept/STOP"):
        assert part in announced


def test_the_checkpoint_kill_switch_is_named_only_if_it_is_polled():
    for polled in (True, False):
        announced = announcement(settings_of(), ABLE, Path("kept"), "STOP", by_checkpoint=polled)
        assert ("rheostat halt CHECKPOINT" in announced[1][1]) == polled


@pytest.mark.parametrize("capabilities", [ABLE, UNABLE])
@pytest.mark.parametrize("kafka", [None, "broker:9092"])
def test_the_announcement_has_at_most_five_lines(capabilities, kafka):
    assert 2 <= len(lines(capabilities, kafka=kafka, standby=1)) <= 5


def test_limitations_are_one_line():
    assert lines(UNABLE)[2] == "rheostat: one thing; another"
    assert "rheostat: " not in lines(ABLE)


def test_default_limits_are_marked_as_defaults():
    assert "1 to 8 executors" in lines()[0]
    assert "; limits= is not given" in lines()[0]
    assert "not given" not in lines(limits=(1, 8))[0]


@pytest.mark.parametrize(
    ("configured", "expected"),
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
def test_messages_appear_by_default_and_user_logging_is_respected(configured, expected):
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(configured=configured)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stderr.splitlines() == expected


def test_messages_are_logged_with_their_level(caplog):
    with caplog.at_level(logging.INFO, logger="rheostat"):
        log_lines([(logging.INFO, "a 100 % plain line"), (logging.WARNING, "b")])
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("INFO", "a 100 % plain line"),
        ("WARNING", "b"),
    ]


def test_limits_below_the_registered_executors_are_reported():
    announced = beyond_ceiling(settings_of(limits=(1, 2)), 5)
    assert announced == "5 executors are registered and limits= allows 2, so 3 will leave"


@pytest.mark.parametrize(("limits", "registered"), [((1, 5), 5), ((1, 8), 3), (None, 12)])
def test_sufficient_or_absent_limits_are_not_reported(limits, registered):
    assert beyond_ceiling(settings_of(limits=limits), registered) is None


@pytest.mark.parametrize("known", [False, True])
def test_the_source_of_the_lag_is_reported_unless_known(known, tmp_path):
    can = Capabilities(can_scale=True)
    announced = announcement(settings_of(), can, tmp_path, "STOP", known)
    assert any("no kafka= given" in line for _, line in announced) is not known
