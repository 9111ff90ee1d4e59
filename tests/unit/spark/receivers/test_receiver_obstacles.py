from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.errors import BadInput
from rheostat.model import Limits
from rheostat.spark.dstreams import (
    LOG,
    OWN,
    is_streaming_context,
    refuse_too_few_cores,
    refuse_two_managers,
    unreplayable,
)


def context(**settings: str) -> Any:
    conf = {name.replace("__", "."): value for name, value in settings.items()}
    return SimpleNamespace(sparkContext=SimpleNamespace(getConf=lambda: conf))


def with_setting(name: str, value: str = "true") -> Any:
    return SimpleNamespace(sparkContext=SimpleNamespace(getConf=lambda: {name: value}))


@pytest.mark.parametrize("setting", [OWN, "spark.dynamicAllocation.enabled"])
def test_a_second_resource_manager_is_rejected_in_one_line(setting):
    with pytest.raises(BadInput, match=setting):
        refuse_two_managers(with_setting(setting))


def test_a_single_resource_manager_is_accepted():
    refuse_two_managers(context())


def test_receivers_without_a_core_for_the_batches_are_rejected():
    message = "4 receivers need 5 cores, but 2 executors of 2 have 4"
    with pytest.raises(BadInput, match=message):
        refuse_too_few_cores(4, Limits.between(1, 2), 2)
    refuse_too_few_cores(3, Limits.between(1, 2), 2)
    refuse_too_few_cores(0, Limits.between(1, 1), 1)


def test_sources_that_cannot_be_replayed_are_named():
    message = unreplayable(context(), ["SocketInputDStream", "SocketInputDStream", "KinesisInput"])
    assert message is not None
    assert "cannot be replayed (2 socket text streams" in message


def test_a_write_ahead_log_makes_sources_replayable():
    assert unreplayable(with_setting(LOG), ["SocketInputDStream"]) is None
    assert unreplayable(context(), ["KinesisInputDStream"]) is None


def test_a_session_is_not_a_streaming_context():
    assert not is_streaming_context(context())
