from __future__ import annotations

from rheostat.operator.observed import Condition, Status, status_json, status_of


def test_a_status_survives_a_json_round_trip():
    conditions = (Condition(type="Ready", true=False, reason="NoDriver", message="none"),)
    status = Status(observed_generation=2, replicas=3, restarting_to=5, conditions=conditions)
    assert status_of(status_json(status, {}, "now")) == status


def test_a_condition_keeps_its_time_while_its_status_is_unchanged():
    ready = Status(conditions=(Condition(type="Ready", true=True, reason="Sized"),))
    first = status_json(ready, {}, "t1")
    not_ready = Status(conditions=(Condition(type="Ready", true=False, reason="NoAnswer"),))
    assert status_json(ready, first, "t2")["conditions"][0]["lastTransitionTime"] == "t1"
    assert status_json(not_ready, first, "t2")["conditions"][0]["lastTransitionTime"] == "t2"


def test_a_clock_set_back_changes_no_condition_time() -> None:
    ready = Status(conditions=(Condition(type="Ready", true=True, reason="Sized"),))
    first = status_json(ready, {}, "2026-01-02T00:00:00Z")
    assert status_json(ready, first, "2026-01-01T00:00:00Z") == first
