# mypy: disallow-untyped-calls=False
"""Bad input to the real server: damaged journals, clocks that jump, clients that do not read."""

import itertools
import json
import socket
import threading
from dataclasses import replace

import pytest

pytest.importorskip("uvicorn", reason="comes with the extra serve")

from tests.unit.control.test_journal_job import journal
from tests.unit.control.test_series import tick
from tests.unit.control.test_server import ask, opened, server_service
from tests.unit.journal.test_totals import NOON_S, start

from rheostat.cli.app import run
from rheostat.control.access import MAX_BODY_BYTES, Access
from rheostat.control.control_app import control_app
from rheostat.control.jobs import Jobs, jobs_of
from rheostat.control.journal_series import COARSE_FILE, SERIES_FILE
from rheostat.control.page_app import reading_app
from rheostat.control.server import Server
from rheostat.journal.retention import segments
from rheostat.journal.starts import STARTS_FILE
from rheostat.journal.summary import SUMMARY_FILE

HTML = "</script><img src=x onerror=alert(1)>"
READS = ("overview", "series", "decisions", "record")


@pytest.fixture
def serve():
    servers = []

    def open_server(app):
        servers.append(Server(app, "127.0.0.1", 0))
        return servers[-1]

    yield open_server
    for server in servers:
        server.close()


def fetch_all(server, paths=READS):
    return {path: ask(server, "GET", f"/api/{path}", token=None) for path in paths}


def cut(text):
    return text[: len(text) * 2 // 3]


def of_a_later_version(text):
    return text.replace('"schema":1', '"schema":99').replace("[1,", "[99,")


def scrambled(text):
    return "".join(reversed(text))


@pytest.mark.parametrize("damage", [cut, of_a_later_version, scrambled, lambda _: "\udcff{\n" * 9])
def test_a_damaged_journal_file_is_reported_and_other_jobs_are_shown(serve, tmp_path, damage):
    for name in ("well", "damaged"):
        journal(tmp_path / name, [tick(place) for place in range(40)], indexed=True)
    server = serve(reading_app(jobs_of([str(tmp_path)], lambda _: True), Access()))
    (newest,) = segments(tmp_path / "damaged")
    for name in (newest.name, SERIES_FILE, COARSE_FILE, STARTS_FILE, SUMMARY_FILE):
        path = tmp_path / "damaged" / name
        content = path.read_bytes() if path.exists() else b""
        path.write_bytes(damage(content.decode()).encode(errors="surrogateescape"))
        rows = ask(server, "GET", "/api/jobs", token=None)[1]["jobs"]
        assert sorted(row["name"] for row in rows) == ["damaged", "well"]
        for row in rows:
            responses = fetch_all(server, [f"{path}?job={row['id']}" for path in READS])
            assert {status for status, _ in responses.values()} <= {200, 502}
        path.write_bytes(content)


def test_a_value_of_the_wrong_type_is_reported_in_one_line(serve, tmp_path):
    journal(tmp_path / "orders", [tick(place) for place in range(40)], indexed=True)
    starts = tmp_path / "orders" / STARTS_FILE
    starts.write_text(starts.read_text().replace('"interval_s":5.0', '"interval_s":"five"'))
    server = serve(reading_app(jobs_of([str(tmp_path)], lambda _: True), Access()))
    status, read = ask(server, "GET", "/api/overview", token=None)
    assert status == 502
    assert read["error"].startswith("it cannot be read: ")
    assert ask(server, "GET", "/api/jobs", token=None)[1]["jobs"][0]["word"] == "Blind"


@pytest.mark.parametrize(
    "places", [[5, 6, 1, 2], [20_000, 20_001, *range(10)], [0, 1, 20_000, 20_001], [5, 6, 1, 2, 8]]
)
def test_a_clock_jump_leaves_the_series_in_order(serve, tmp_path, places):
    journal(tmp_path / "orders", [tick(place) for place in places], indexed=True)
    server = serve(reading_app(jobs_of([str(tmp_path)], lambda _: True), Access()))
    responses = fetch_all(server)
    assert {status for status, _ in responses.values()} == {200}
    series = responses["series"][1]
    assert series["t"] == sorted(series["t"])
    assert series["now"] == series["last_s"] == NOON_S + 5 * places[-1]
    assert responses["record"][1]["t_s"] == series["now"]


def test_a_name_with_html_is_returned_as_data(serve, tmp_path):
    observed = tick(0).observation
    query = replace(observed, query=HTML)
    written = journal(tmp_path / HTML.replace("/", ""), [replace(tick(0), queries=(query, query))])
    written.note(start(t_s=NOON_S, application=HTML))
    server = serve(reading_app(jobs_of([str(tmp_path)], lambda _: True), Access()))
    assert ask(server, "GET", "/api/overview", token=None)[1]["name"] == HTML
    with opened(server, request(server, "GET /api/overview")) as client:
        assert b"content-type: application/json" in client.recv(65_536).lower()


def test_a_port_already_in_use_is_reported_in_one_line(tmp_path, capsys):
    journal(tmp_path / "orders", [tick(0)])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert run(["serve", str(tmp_path), "--at", str(port)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"cannot listen on 127.0.0.1:{port}" in line


def request(server, line, *headers):
    lines = [f"{line} HTTP/1.1", f"Host: {server.address}", *headers, "", ""]
    return "\r\n".join(lines).encode()


@pytest.mark.parametrize("token", ["guess", "secre", "secrets", "", "Bearer secret"])
def test_a_wrong_token_is_rejected_and_changes_nothing(serve, token):
    service = server_service()
    before, notes = service.report(), []
    app = control_app(service, Access("secret"), note=lambda *note: notes.append(note))
    server = serve(app)
    bodies = {"halt": {}, "pin": {"executors": 4}, "limits": {"min": 1, "max": 2}, "drain": {}}
    for path, body in bodies.items():
        status, read = ask(server, "PUT", f"/{path}", json.dumps(body), token)
        assert (status, read["error"]) == (401, "the token is missing or wrong")
    assert service.report() == before
    assert notes == []


def test_a_body_above_the_limit_is_rejected_before_it_is_read(serve):
    service = server_service()
    server = serve(control_app(service, Access("secret")))
    headers = ("Authorization: Bearer secret", "Content-Length: 10000000")
    with opened(server, request(server, "PUT /halt", *headers)) as client:
        assert client.recv(4096).split()[1] == b"413"
    chunks = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
    chunks = chunks * (MAX_BODY_BYTES // 0x4000) + b"1\r\nx\r\n"
    headers = ("Authorization: Bearer secret", "Transfer-Encoding: chunked")
    with opened(server, request(server, "PUT /halt", *headers)) as client:
        client.sendall(chunks)  # one byte too many; the client never ends the body
        assert client.recv(4096).split()[1] == b"413"
    assert service.report().halted is False


def test_a_stalled_client_is_disconnected_and_delays_no_tick(serve, monkeypatch):
    class Large:
        name = address = "large"
        versions = itertools.count()
        overviews = 0

        def version(self):
            return (next(self.versions),)

        def overview(self):
            self.overviews += 1
            return {"text": "x" * 4_000_000}

    monkeypatch.setattr("rheostat.control.server._STALLED_S", 0.2)
    monkeypatch.setattr("rheostat.control.page_app._LOOK_S", 0.0)
    job, service, ended = Large(), server_service(), threading.Event()
    app = control_app(service, Access(), jobs=Jobs(lambda: [job]))  # type: ignore[list-item]

    async def observed_app(scope, receive, send):
        await app(scope, receive, send)
        if scope["path"] == "/api/events":
            ended.set()

    server = serve(observed_app)
    with opened(server, request(server, "GET /api/events")):
        for place in range(50):
            service.see(tick(place))
        assert ask(server, "GET", "/status", token=None)[0] == 200
        assert ended.wait(60)
    assert job.overviews < 50  # what the sockets hold; nothing is queued beyond
