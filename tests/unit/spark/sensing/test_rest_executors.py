from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from rheostat.spark.sensing.rest_executors import Executor, ExecutorsEndpoint, unix_s
from rheostat.spark.sensing.rest_pages import Rest

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


def test_the_registered_executors_are_those_that_are_active(ui):
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
    everyone = endpoint.all()
    assert [executor.id for executor in everyone] == ["0", "1"]
    assert (everyone[1].removed_s, everyone[1].peak_memory_bytes) == (
        "2026-01-01T00:01:00.000GMT",
        None,
    )


def test_failed_tasks_are_added_over_the_jobs(ui):
    assert (
        ui([{"jobId": 1, "numFailedTasks": 2}, {"jobId": 2, "numFailedTasks": 3}]).failed_tasks()
        == 5
    )
    assert ui([]).failed_tasks() == 0
    assert ui([{"jobId": 1}]).failed_tasks() is None


def test_no_executor_is_an_empty_list_and_not_an_absent_answer(ui):
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
def test_garbage_is_an_absent_answer(ui, body):
    assert ui(body if isinstance(body, bytes) else json.dumps(body).encode()).registered() is None


@pytest.mark.parametrize("status", [404, 500, 302])
def test_an_error_is_an_absent_answer(ui, status):
    assert ui([FIRST], status).registered() is None


def test_an_application_that_is_unknown_to_the_ui_is_an_absent_answer(ui):
    ui([FIRST])
    other = ExecutorsEndpoint(Rest(ui([FIRST])._pages._url.partition("/api")[0], "app-2"))
    assert other.all() is None


def test_a_proxy_of_the_user_is_not_asked(ui, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    assert len(ui([FIRST]).registered()) == 1


def test_without_a_ui_there_is_no_answer():
    assert ExecutorsEndpoint(Rest(None, "app-1")).registered() is None


@pytest.fixture
def mute() -> Iterator[socket.socket]:
    """A server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_a_ui_that_does_not_answer_in_time_is_an_absent_answer(mute):
    assert (
        ExecutorsEndpoint(
            Rest(f"http://127.0.0.1:{mute.getsockname()[1]}", "app-1", timeout_s=0.05)
        ).registered()
        is None
    )


def test_what_is_no_http_is_an_absent_answer(mute):
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


def test_a_ui_that_is_gone_is_an_absent_answer(mute):
    port = mute.getsockname()[1]
    mute.close()
    assert ExecutorsEndpoint(Rest(f"http://127.0.0.1:{port}", "app-1")).registered() is None


def test_the_first_executor_took_from_the_drivers_registration_to_its_own(ui):
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
def test_what_the_first_executor_took_is_absent_where_it_does_not_show(ui, listed):
    assert ui(listed).first_start_s() is None


def test_a_time_is_told_to_the_millisecond():
    assert unix_s("2026-01-01T00:00:00.250GMT") == 1767225600.25
