from __future__ import annotations

import logging

import pytest

from rheostat.spark.announcement import BrokerLog


def test_an_outage_is_logged_at_its_beginning_and_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = BrokerLog("broker:9092")
    with caplog.at_level(logging.INFO, logger="rheostat"):
        log.changed(False, 1000.0)
        log.changed(True, 1210.0)
    down, up = caplog.records
    assert (down.levelname, up.levelname) == ("WARNING", "INFO")
    assert "Kafka at broker:9092 (kafka=) does not answer" in down.getMessage()
    assert up.getMessage() == "rheostat: Kafka at broker:9092 answers again after 210 s"


def test_a_broker_that_is_reachable_from_the_start_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, logger="rheostat"):
        BrokerLog("broker:9092").changed(True, 1000.0)
    assert not caplog.records
