import json

import pytest

from rheostat.actions import Recommendation, ReplaceExecutor
from rheostat.journal.record import from_line, observation_from, to_line
from rheostat.model import (
    Decision,
    ExecutorSample,
    GuardChange,
    InFlight,
    Observation,
    Record,
    Rescaling,
    Stage,
)

FULL = Record(
    t_s=1.5,
    observation=Observation(
        t_s=1.5,
        application="app",
        executors=3,
        lag_rows=0.0,
        inputs={"bids": 2.0},
        in_flight=InFlight(elapsed_s=0.5, tasks_left=3),
        stages=(Stage(name="map", upstream=("a", "b"), rows_in=1.0), Stage(name="b")),
        by_executor={"7": ExecutorSample(cpu=0.5), "8": ExecutorSample()},
    ),
    queries=(Observation(t_s=1.5, query="a"), Observation(t_s=1.5, query="b")),
    raw=Decision(
        target=9,
        reason="why",
        evidence={"rate": 1.0, "slope": None},
        actions=(ReplaceExecutor("7"), Recommendation("rebalance executor 7")),
    ),
    guards=(GuardChange(guard="bounds", before=9, after=8, reason="max"),),
    target=8,
    actions=("replace executor 7",),
    rescaling=Rescaling(phase="growing", detail="5 starting"),
)


def test_a_full_record_survives_a_round_trip():
    assert from_line(to_line(FULL)) == FULL


def test_a_record_is_one_line_without_absent_values():
    line = to_line(FULL)
    assert "\n" not in line
    assert json.loads(line)["schema"] == 1
    assert "cpu_python" not in json.loads(line)["observation"]


def test_zero_is_not_absent():
    assert json.loads(to_line(FULL))["observation"]["lag_rows"] == 0.0


def test_unknown_fields_are_ignored_everywhere():
    record = json.loads(to_line(FULL))
    for part in (
        record,
        record["observation"],
        record["raw"],
        record["rescaling"],
        record["guards"][0],
        record["observation"]["in_flight"],
    ):
        part["of_the_future"] = {"a": [1]}
    for part in (
        *record["observation"]["stages"],
        *record["observation"]["by_executor"].values(),
        *record["queries"],
    ):
        part["of_the_future"] = 1
    assert from_line(json.dumps(record)) == FULL


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), float("-inf")])
def test_a_non_finite_number_is_stored_as_absent(broken):
    line = to_line(
        Record(
            **{
                **{name: getattr(FULL, name) for name in FULL.__slots__},
                "observation": Observation(t_s=0.0, cpu=broken),
            }
        )
    )
    restored = from_line(line).observation
    assert restored is not None
    assert restored.cpu is None


@pytest.mark.parametrize("line", ["{}", "[]", "7", '{"schema": 2, "t_s": 1}', "nonsense", ""])
def test_invalid_records_are_rejected(line):
    with pytest.raises(ValueError, match=r"journal record|Expecting"):
        from_line(line)


def test_an_observation_is_created_from_a_plain_mapping():
    assert observation_from({"t_s": 1.0, "lag_rows": 2.0, "other": 3}) == Observation(
        t_s=1.0, lag_rows=2.0
    )
