"""The configuration of a broker before its start, and the message about a failed start."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.errors import BadInput, RheostatError
from rheostat.kafka.client import settings
from rheostat_lab.services import broker
from rheostat_lab.services.broker import MOST_PARTITIONS, check_topic

names = st.from_regex(r"[A-Za-z0-9._-]{1,249}", fullmatch=True).filter(
    lambda name: name not in (".", "..")
)


@given(names, st.integers(1, MOST_PARTITIONS))
def test_every_valid_topic_name_and_partition_count_is_accepted(name: str, partitions: int) -> None:
    check_topic(name, partitions)


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "bids/1", "ünder", "x" * 250, "bids\n"])
def test_an_invalid_topic_name_is_rejected_with_the_rule(name: str) -> None:
    with pytest.raises(BadInput, match="1 to 249 letters, digits, dots") as error:
        check_topic(name, 1)
    assert repr(name) in str(error.value)


@pytest.mark.parametrize("partitions", [0, -1, MOST_PARTITIONS + 1])
def test_a_partition_count_out_of_range_is_rejected_with_its_value(partitions: int) -> None:
    with pytest.raises(BadInput, match=f"but {partitions} were requested"):
        check_topic("bids", partitions)


def test_up_rejects_an_invalid_topic_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(BadInput, match="a topic has 1 to"):
        broker.up(folder=tmp_path / "data", topics={"bids": 0})
    assert list(tmp_path.iterdir()) == []


def test_a_broker_that_failed_to_start_is_reported_with_its_last_log_line(tmp_path: Path) -> None:
    log = tmp_path / "broker.log"
    log.write_text("starting\nno space left on device\n")
    with pytest.raises(RheostatError, match=r"ended at its start: no space left on device \(see"):
        broker._wait("127.0.0.1:9", lambda: False, log)
    log.write_text("")
    with pytest.raises(RheostatError, match="its log is empty"):
        broker._wait("127.0.0.1:9", lambda: False, log)


def test_client_logging_is_off_by_default() -> None:
    assert settings({"bootstrap.servers": "h:1"})["log_level"] == "0"
    assert settings({"log_level": "6"})["log_level"] == "6"
