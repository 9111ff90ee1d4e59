from __future__ import annotations

from rheostat.spark.sensing.sensor import publish, wanted_receivers


def test_requested_receivers_are_summed_over_the_active_fleets():
    requested: dict[str, int | None] = {"first": 2, "second": 1}
    publish("two-fleets", lambda: requested["first"])
    publish("two-fleets", lambda: requested["second"])
    assert wanted_receivers("two-fleets") == 3
    requested["first"] = None
    assert wanted_receivers("two-fleets") == 1
    requested["second"] = None
    assert wanted_receivers("two-fleets") is None
    assert wanted_receivers("no-fleet") is None
