"""Every registered policy replays every packaged recording; new ones of both are included
automatically."""

from __future__ import annotations

from itertools import islice

import pytest

from rheostat.model import Limits
from rheostat.policies.registry import POLICIES
from rheostat.replay.recording import Recording, packaged, read
from rheostat.replay.replayer import Request, as_line, replay

LIMITS = Limits.between(2, 12)
RECORDINGS = {name: read(path) for name, path in packaged().items()}
SOME = {
    name: {key: moments[:240] for key, moments in RECORDINGS[name].items()}
    for name in ("query-1_HPA_50", "query-3_vargav1_50")
}


def check_replay(recording: Recording, policy: str, moments: int) -> None:
    for initial in (None, 8):
        decided = list(replay(recording, Request(policy=policy, limits=LIMITS, initial=initial)))
        assert len(decided) == moments
        assert all(2 <= item.decision.target <= 12 and item.decision.reason for item in decided)
        assert all(as_line(item) for item in decided)


@pytest.mark.parametrize("policy", POLICIES)
def test_registered_policies_replay_part_of_two_recordings(policy):
    for recording in SOME.values():
        check_replay(recording, policy, 240)


def test_all_recordings_replay():
    assert len(RECORDINGS) == 15
    for recording in RECORDINGS.values():
        assert len(list(replay(recording, Request(policy="measured-throughput")))) == 561


@pytest.mark.thorough
@pytest.mark.parametrize("policy", POLICIES)
def test_registered_policies_replay_all_recordings(policy):
    for recording in RECORDINGS.values():
        check_replay(recording, policy, 561)


@pytest.mark.parametrize("policy", POLICIES)
def test_decisions_do_not_depend_on_later_observations(policy):
    recording = SOME["query-1_HPA_50"]
    part = {key: moments[:60] for key, moments in recording.items()}
    request = Request(policy=policy, limits=LIMITS)
    assert [as_line(item) for item in replay(part, request)] == [
        as_line(item) for item in islice(replay(recording, request), 60)
    ]
