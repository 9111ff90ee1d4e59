import json
from dataclasses import dataclass
from typing import Any

import pytest

from rheostat.actions import ReplaceExecutor
from rheostat.errors import BadInput
from rheostat.model import Decision, Evidence, Limits, Memory, Observation, hold
from rheostat.replay.recording import Recording, by_application, packaged, read
from rheostat.replay.replayer import Decided, Request, as_line, replay
from rheostat.replay.validate import Moment

HERE = __name__


@dataclass(frozen=True)
class OneMore:
    """Requests one executor more than the current size, and records the observed sizes."""

    more: int = 1

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        sizes = [*memory.get("sizes", ()), observation.size]
        evidence: Evidence = {
            "sizes": str(sizes),
            "seen_s": observation.t_s,
            "broken": float("nan"),
        }
        return Decision(
            target=(observation.size or 0) + self.more, reason="one more", evidence=evidence
        ), {"sizes": sizes}


class Rejects:
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        if observation.t_s >= 2:
            raise BadInput("this is not for me")
        return hold(observation, "fine"), memory


class RequestsReplacement:
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        return Decision(target=2, reason="skew", actions=(ReplaceExecutor("7"),)), memory


def recorded(*sizes: int | None, step_s: float = 10.0, application: str | None = None) -> Recording:
    rows = [
        Observation(t_s=n * step_s, executors=size, application=application)
        for n, size in enumerate(sizes)
    ]
    return by_application([Moment(f"row {n}", row) for n, row in enumerate(rows, 1)])


def run(recording: Recording, policy: str = "OneMore", **options: Any) -> list[Decided]:
    return list(replay(recording, Request(policy=f"{HERE}:{policy}", **options)))


def targets(decided: list[Decided]) -> list[int]:
    return [item.decision.target for item in decided]


def test_every_decision_starts_from_the_recorded_size():
    assert targets(run(recorded(3, 3, 5, 1))) == [4, 4, 6, 2]


def test_with_an_initial_size_decisions_are_fed_back():
    decided = run(recorded(3, 3, 5, 1), initial=7)
    assert targets(decided) == [8, 9, 10, 11]
    assert [item.size for item in decided] == [7, 8, 9, 10]


def test_the_size_after_the_limits_is_fed_back():
    assert targets(run(recorded(3, 3, 3), initial=2, limits=Limits.between(2, 3))) == [3, 3, 3]


def test_a_moment_without_a_size_keeps_the_last_known_one():
    decided = run(recorded(None, 3, None, 0, 5))
    assert [item.size for item in decided] == [None, 3, 3, 3, 5]


def test_decisions_do_not_depend_on_the_future():
    full, half = run(recorded(3, 4, 5, 6)), run(recorded(3, 4))
    assert [as_line(item) for item in full[:2]] == [as_line(item) for item in half]


def test_an_interval_uses_the_newest_row_before_every_decision():
    decided = run(recorded(1, 2, 3, 4, 5), interval_s=20.0)
    assert [(item.t_s, item.decision.evidence["seen_s"]) for item in decided] == [
        (0.0, 0.0),
        (20.0, 20.0),
        (40.0, 40.0),
    ]
    decided = run(recorded(1, 2), interval_s=4.0)
    assert [(item.t_s, item.decision.evidence["seen_s"]) for item in decided] == [
        (0.0, 0.0),
        (4.0, 0.0),
        (8.0, 0.0),
    ]


def test_a_gap_in_the_recording_keeps_the_size():
    decided = run(recorded(3, 3, step_s=100.0), interval_s=25.0)
    assert targets(decided) == [4, 4, 3, 3, 4]
    assert decided[3].decision.reason == "size kept: the observation is 75 s old"


def test_every_application_has_separate_memory():
    both = {**recorded(1, 1, application="a"), **recorded(1, 1, application="b")}
    assert [item.decision.evidence["sizes"] for item in run(both)] == [
        "[1]",
        "[1, 1]",
        "[1]",
        "[1, 1]",
    ]


def test_a_line_is_json_with_four_keys():
    first, *_ = run(recorded(3))
    line = json.loads(as_line(first))
    assert line == {
        "t_s": 0.0,
        "target": 4,
        "reason": "one more",
        "evidence": {"sizes": "[3]", "seen_s": 0.0, "broken": None},
    }
    assert json.loads(as_line(first, several=True))["application"] is None


def test_actions_appear_in_the_line_if_present():
    assert json.loads(as_line(run(recorded(3), "RequestsReplacement")[0]))["actions"] == [
        "replace executor 7"
    ]


def test_a_rejection_by_the_policy_names_the_row():
    with pytest.raises(BadInput, match="row 2: this is not for me"):
        run(recorded(3, 3), "Rejects")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interval_s": 0.0}, "interval must be above 0 seconds, but it is 0.0"),
        ({"interval_s": float("inf")}, "interval must be above 0"),
        ({"initial": 9, "limits": Limits.between(1, 8)}, "within 1 and 8, but it is 9"),
        ({"initial": 0}, "but it is 0"),
        ({"parameters": {"less": "1"}}, "no parameter 'less'"),
    ],
)
def test_an_invalid_request_is_rejected(options, message):
    with pytest.raises(BadInput, match=message):
        run(recorded(3), **options)


def test_replaying_a_recording_is_deterministic():
    request = Request(policy="hpa", limits=Limits.between(1, 16))
    first, second = (
        [as_line(item) for item in replay(read(packaged()["query-1_HPA_50"]), request)]
        for _ in range(2)
    )
    assert first == second
    assert len(first) == 561
    assert len({json.loads(line)["target"] for line in first}) > 5
