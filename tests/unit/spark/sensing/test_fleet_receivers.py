from __future__ import annotations

from rheostat.spark.sensing.sensor import publish, wanted_receivers


def test_what_all_fleets_of_an_application_ask_for_adds_up_and_an_ended_one_counts_no_more():
    asked: dict[str, int | None] = {"first": 2, "second": 1}
    publish("two-fleets", lambda: asked["first"])
    publish("two-fleets", lambda: asked["second"])
    assert wanted_receivers("two-fleets") == 3
    asked["first"] = None
    assert wanted_receivers("two-fleets") == 1
    asked["second"] = None
    assert wanted_receivers("two-fleets") is None
    assert wanted_receivers("no-fleet") is None
