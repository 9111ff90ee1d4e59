from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.spark.internals.placed_tasks import LocalityWaits


@pytest.mark.parametrize(
    ("settings", "own", "own_process"),
    [
        ({}, "3s", "3s"),
        ({"spark.locality.wait": "1s"}, "1s", "1s"),
        ({"spark.locality.wait": "1s", "spark.locality.wait.process": "5s"}, "1s", "5s"),
    ],
)
def test_a_locality_wait_is_set_and_the_applications_value_restored(
    gateway: Callable[..., Any], settings: dict[str, str], own: str, own_process: str
) -> None:
    live: dict[str, str] = {}
    conf = SimpleNamespace(set=live.__setitem__)
    waits = LocalityWaits(gateway(SimpleNamespace(conf=lambda: conf), settings=settings.items()))
    assert waits.set_wait("100ms")
    assert waits.set_process_wait("10s")
    assert live == {"spark.locality.wait": "100ms", "spark.locality.wait.process": "10s"}
    assert waits.set_wait(None)
    assert waits.set_process_wait(None)
    assert live == {"spark.locality.wait": own, "spark.locality.wait.process": own_process}


def test_unwritable_settings_change_nothing(gateway: Callable[..., Any], absent: Any) -> None:
    assert not LocalityWaits(gateway(absent)).set_wait("100ms")
