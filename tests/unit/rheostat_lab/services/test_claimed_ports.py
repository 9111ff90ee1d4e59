from __future__ import annotations

import socket

import pytest

from rheostat.errors import BadInput
from rheostat.machine.free_ports import LOOPBACK, free_port
from rheostat_lab.services.claimed_ports import claim_port, given_or_free


def test_a_free_port_can_be_claimed() -> None:
    port = free_port()
    assert claim_port(port, "Kafka") == port


@pytest.mark.parametrize("host", [LOOPBACK, "0.0.0.0"])
def test_a_port_already_in_use_is_rejected_with_its_name(host: str) -> None:
    with socket.create_server((host, 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(BadInput, match=f"port {port} for Kafka is taken"):
            claim_port(port, "Kafka")


@pytest.mark.parametrize("port", [-1, 0, 65536])
def test_an_invalid_port_number_is_rejected(port: int) -> None:
    with pytest.raises(BadInput, match=f"between 1 and 65535, but it is {port}"):
        claim_port(port, "Kafka")


def test_a_port_with_closing_connections_is_free() -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection((LOOPBACK, port)) as client:
            server.accept()[0].close()
            client.recv(1)
    assert claim_port(port, "Kafka") == port


@pytest.mark.parametrize("name", ["the Spark master", "the Spark master's web page"])
def test_a_port_already_in_use_is_reported_in_one_line(name: str) -> None:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"port {port} for {name} is taken"):
            given_or_free(port, name)
