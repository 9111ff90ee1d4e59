from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from rheostat.spark.sensing.rest import Executor, ExecutorsEndpoint, Rest, unix_s

DRIVER = {"id": "driver", "maxTasks": 0, "isActive": True, "totalDuration": 0, "addTime": "a"}
FIRST = {
    "id": "0",
    "maxTasks": 2,
    "isActive": True,
    "totalDuration": 1500,
    "addTime": "2026-01-01T00:00:00.000GMT",
    "peakMemoryMetrics": {"JVMHeapMemory": 100, "JVMOffHeapMemory": 20, "OnHeapExecutionMemory": 0},
}
GONE = {
    **FIRST,
    "id": "1",
    "isActive": False,
    "removeTime": "2026-01-01T00:01:00.000GMT",
    "peakMemoryMetrics": None,
}


class Answers(BaseHTTPRequestHandler):
    """Answers each path with a given status and body."""

    pages: dict[str, tuple[int, bytes]] = {}

    def do_GET(self) -> None:
        status, body = self.pages.get(self.path, (404, b"no such page"))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def ui() -> Iterator[Callable[..., ExecutorsEndpoint]]:
    """Start a UI with a body for executors and allexecutors, and return its endpoint."""
    server = HTTPServer(("127.0.0.1", 0), type("Pages", (Answers,), {"pages": {}}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()

    def start(body: object, status: int = 200) -> ExecutorsEndpoint:
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        server.RequestHandlerClass.pages = {  # type: ignore[attr-defined]
            f"/api/v1/applications/app-1/{name}": (status, text)
            for name in ("executors", "allexecutors", "jobs")
        }
        return ExecutorsEndpoint(Rest(f"http://127.0.0.1:{server.server_port}", "app-1"))

    yield start
    server.shutdown()
    thread.join()
    server.server_close()


def test_registered_executors_are_the_active_ones(ui):
    first = Executor(
        id="0",
        slots=2,
        active=True,
        task_s=1.5,
        peak_memory_bytes=120,
        registered_s="2026-01-01T00:00:00.000GMT",
        removed_s=None,
    )
    endpoint = ui([DRIVER, FIRST, GONE])
    assert endpoint.registered() == [first]
    executors = endpoint.all()
    assert [executor.id for executor in executors] == ["0", "1"]
    assert (executors[1].removed_s, executors[1].peak_memory_bytes) == (
        "2026-01-01T00:01:00.000GMT",
        None,
    )


def test_failed_tasks_are_summed_over_the_jobs(ui):
    assert (
        ui([{"jobId": 1, "numFailedTasks": 2}, {"jobId": 2, "numFailedTasks": 3}]).failed_tasks()
        == 5
    )
    assert ui([]).failed_tasks() == 0
    assert ui([{"jobId": 1}]).failed_tasks() is None


def test_zero_executors_are_an_empty_list_and_not_absent(ui):
    assert ui([DRIVER]).registered() == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"\xff\xfe",
        [1],
        "text",
        {"a": 1},
        7,
        None,
        [{**FIRST, "totalDuration": None}],
        [{"id": "0"}],
    ],
)
def test_an_invalid_response_is_absent(ui, body):
    assert ui(body if isinstance(body, bytes) else json.dumps(body).encode()).registered() is None


@pytest.mark.parametrize("status", [404, 500, 302])
def test_an_error_response_is_absent(ui, status):
    assert ui([FIRST], status).registered() is None


def test_an_unknown_application_is_absent(ui):
    ui([FIRST])
    other = ExecutorsEndpoint(Rest(ui([FIRST])._pages._url.partition("/api")[0], "app-2"))
    assert other.all() is None


def test_a_user_proxy_is_not_used(ui, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    assert len(ui([FIRST]).registered()) == 1


def test_executors_are_absent_without_a_ui():
    assert ExecutorsEndpoint(Rest(None, "app-1")).registered() is None


@pytest.fixture
def mute() -> Iterator[socket.socket]:
    """A server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_a_ui_timeout_is_absent(mute):
    assert (
        ExecutorsEndpoint(
            Rest(f"http://127.0.0.1:{mute.getsockname()[1]}", "app-1", timeout_s=0.05)
        ).registered()
        is None
    )


def test_a_non_http_response_is_absent(mute):
    def speak() -> None:
        peer, _ = mute.accept()
        with peer:
            peer.recv(4096)
            peer.sendall(b"220 smtp ready\r\n\r\n")

    thread = threading.Thread(target=speak)
    thread.start()
    assert (
        ExecutorsEndpoint(Rest(f"http://127.0.0.1:{mute.getsockname()[1]}", "app-1")).registered()
        is None
    )
    thread.join()


def test_a_closed_ui_is_absent(mute):
    port = mute.getsockname()[1]
    mute.close()
    assert ExecutorsEndpoint(Rest(f"http://127.0.0.1:{port}", "app-1")).registered() is None


def test_the_first_start_time_runs_from_the_driver_to_the_first_executor(ui):
    driver = {**DRIVER, "addTime": "2025-12-31T23:59:54.750GMT"}
    later = {**FIRST, "id": "2", "addTime": "2026-01-01T00:09:00.000GMT"}
    assert ui([driver, later, FIRST]).first_start_s() == 5.25


@pytest.mark.parametrize(
    "listed",
    [
        [{**DRIVER, "addTime": FIRST["addTime"]}],
        [FIRST],
        [DRIVER, FIRST],
        [{**DRIVER, "addTime": "2026-01-01T00:00:01.000GMT"}, FIRST],
    ],
    ids=["no executor", "no driver", "no time", "before the driver"],
)
def test_an_unknown_first_start_time_is_absent(ui, listed):
    assert ui(listed).first_start_s() is None


def test_times_are_parsed_to_the_millisecond():
    assert unix_s("2026-01-01T00:00:00.250GMT") == 1767225600.25
