"""Rheostat's own errors in the log."""

from __future__ import annotations

import logging

from rheostat.loop import FaultLog


def test_every_kind_of_failure_is_logged_once_with_its_operation(caplog):
    faults = FaultLog("a step failed")
    with caplog.at_level(logging.WARNING, logger="rheostat"):
        kinds = [faults.warn(fault) for fault in (KeyError("a"), KeyError("a"), KeyError("b"))]
    assert kinds == ["KeyError: 'a'", "KeyError: 'a'", "KeyError: 'b'"]
    assert [record.getMessage() for record in caplog.records] == [
        "rheostat: a step failed: KeyError: 'a'",
        "rheostat: a step failed: KeyError: 'b'",
    ]
