"""No message contains secrets, for any content of a client's file."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat.kafka.client import client_config
from rheostat.machine.properties_file import properties

SECRET = "hunter2"
names = st.sampled_from(
    ["bootstrap.servers", "sasl.password", "sasl.jaas.config", "ssl.key.password", "acks", ""]
)
separators = st.sampled_from(["=", " = ", ":", " ", "", "\\\n=", "\\"])
values = st.sampled_from([SECRET, f"{SECRET}\\", f"a {SECRET}", "", "h:1", f"\\u0061{SECRET}"])
lines = st.builds("".join, st.tuples(names, separators, values))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(lines, max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_a_file_is_read_or_rejected_without_its_secret(
    tmp_path: Path, written: list[str], ends: str
) -> None:
    path = tmp_path / "client.properties"
    path.write_bytes(ends.join(written).encode())
    message, config = "", {}
    try:
        config = client_config(str(path))
    except BadInput as refused:
        message = str(refused)
    assert SECRET not in message
    assert "\n" not in message
    assert bool(message) != bool(config)
    assert all(config.values())
    assert "sasl.jaas.config" not in config


plain = st.text(string.ascii_letters + string.digits + ".-_/@", min_size=1, max_size=12)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(plain, plain, max_size=5))
def test_names_and_values_survive_a_round_trip(tmp_path: Path, entries: dict[str, str]) -> None:
    config = {**entries, "bootstrap.servers": "h:1"}
    path = tmp_path / "client.properties"
    path.write_text("".join(f"{name}={value}\n" for name, value in config.items()))
    assert client_config(str(path)) == config


escaped = {"\\": "\\\\", "=": "\\=", ":": "\\:", " ": "\\ ", "\t": "\\t", "#": "\\#", "!": "\\!"}


@given(
    st.text("ab=: \t#!\\é", min_size=1, max_size=8), st.text("ab=: \t#!\\é", min_size=1, max_size=8)
)
def test_java_escapes_are_decoded(name: str, value: str) -> None:
    line = "".join(escaped.get(sign, sign) for sign in name)
    line += "=" + "".join(escaped.get(sign, sign) for sign in value)
    (entry,) = properties(line)
    assert (entry.name, entry.value) == (name, value)


@pytest.mark.parametrize("path", ["folder", "missing.properties"])
def test_a_folder_or_missing_file_is_not_a_configuration(tmp_path: Path, path: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInput, match="must be host:port or a properties file"):
        client_config(str(tmp_path / path))
