from __future__ import annotations

from rheostat.spark.sensing.fleet_receivers import receivers_asked, tell


def test_what_all_fleets_of_an_application_ask_for_adds_up_and_an_ended_one_counts_no_more():
    asked: dict[str, int | None] = {"first": 2, "second": 1}
    tell("two-fleets", lambda: asked["first"])
    tell("two-fleets", lambda: asked["second"])
    assert receivers_asked("two-fleets") == 3
    asked["first"] = None
    assert receivers_asked("two-fleets") == 1
    asked["second"] = None
    assert receivers_asked("two-fleets") is None
    assert receivers_asked("no-fleet") is None
