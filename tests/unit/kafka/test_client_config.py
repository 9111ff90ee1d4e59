"""The configuration of a Kafka client: a broker or a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat.kafka.client import client_config


@pytest.mark.parametrize("given", ["broker:9092", "a.b-c:1,d:2", "[::1]:9092", "127.0.0.1:9092"])
def test_a_broker_is_a_configuration(given: str) -> None:
    assert client_config(given) == {"bootstrap.servers": given}


def test_a_properties_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text(
        "# ours\nbootstrap.servers=a:9093\nsecurity.protocol = SASL_SSL\n\n"
        "sasl.username: me\nsasl.password=se=cret\n"
    )
    assert client_config(str(path)) == {
        "bootstrap.servers": "a:9093",
        "security.protocol": "SASL_SSL",
        "sasl.username": "me",
        "sasl.password": "se=cret",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bootstrap.servers=a:1\n\nhunter2\n", "line 3 of {path} is not name=value"),
        ("bootstrap.servers=a:1\nsasl.password=\n", "line 2 of {path} is not name=value"),
        ("=hunter2\n", "line 1 of {path} is not name=value"),
        (
            "bootstrap.servers=a:1\nsasl.password=hunter2\nsasl.password=hunter2",
            "line 3 of {path} sets sasl.password for the second time",
        ),
        ("sasl.password=hunter2", "{path} must have a line bootstrap.servers=host:port"),
        (
            "bootstrap.servers=a:1\nsasl.jaas.config=x password=hunter2;",
            "{path} has sasl.jaas.config, which only Java clients support; use sasl.username and"
            " sasl.password",
        ),
    ],
)
def test_an_invalid_line_is_named_by_number_without_its_secret(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "client.properties"
    path.write_text(text)
    with pytest.raises(BadInput) as refused:
        client_config(str(path))
    assert str(refused.value) == message.format(path=path)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("given", ["broker", "broker:", ":9092", "a:1,b", "no/such.properties", ""])
def test_a_value_that_is_neither_broker_nor_file_is_rejected(given: str) -> None:
    with pytest.raises(BadInput, match="must be host:port or a properties file"):
        client_config(given)


def test_a_binary_file_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="cannot be read: it is not text"):
        client_config(str(tmp_path / "binary"))
