# mypy: disallow-untyped-calls=False
import http.client
import json
import socket

import pytest

pytest.importorskip("uvicorn", reason="comes with the extra serve")

from rheostat.cli.app import run
from rheostat.control.access import Access
from rheostat.control.control_app import control_app
from rheostat.control.control_service import ControlService
from rheostat.control.driver_report import Report, report_json, report_of
from rheostat.control.server import Server
from rheostat.control.sizing import Sizing
from rheostat.errors import BadInput
from rheostat.model import Capabilities, Decision, Observation, Record, Rescaling
from rheostat.policies.rules.fixed import Fixed


class Nothing:
    capabilities = Capabilities(can_scale=False, cannot=("it is a test",))
    halted = ""

    def direct(self, policy, guards):
        pass

    def halt(self):
        self.halted = "a test"

    def resume(self):
        self.halted = ""

    def pause(self, cause):
        self.halted = cause


def server_service():
    return ControlService(Nothing(), lambda _: (Fixed(), ()), lambda: None)


@pytest.fixture
def serve():
    opened = []

    def make(token="secret"):
        service = server_service()
        app = control_app(service, Access(token), lambda: {"healthy": True})
        server = Server(app, "127.0.0.1", 0)
        opened.append(server)
        return server, service

    yield make
    for server in opened:
        server.close()


def ask(server, method, path, body=None, token="secret"):
    connection = http.client.HTTPConnection(server.address, timeout=120)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    read = answer.read().decode()
    connection.close()
    return answer.status, json.loads(read) if read.startswith("{") else read


def test_the_overview_matches_rheostat_status(serve):
    from rheostat.cli.status import _of_endpoint

    server, _ = serve(token=None)
    assert ask(server, "GET", "/overview", token=None) == (200, {"healthy": True})
    assert _of_endpoint(server.address) == {"healthy": True, "endpoint": server.address}


def test_the_status_is_a_report(serve):
    server, _ = serve()
    status, read = ask(server, "GET", "/status", token=None)
    assert status == 200
    assert report_of(read).cannot == ("it is a test",)


def test_a_size_is_set_with_the_token(serve):
    server, service = serve()
    assert ask(server, "PUT", "/sizing", '{"mode": "external"}')[0] == 200
    assert ask(server, "PUT", "/scale", '{"executors": 4}')[0] == 200
    assert service.report().sizing == Sizing(mode="external", size=4)


@pytest.mark.parametrize(
    ("method", "path", "body", "token", "status", "message"),
    [
        ("PUT", "/scale", '{"executors": 4}', "guess", 401, "missing or wrong"),
        ("PUT", "/scale", '{"executors": 4}', None, 401, "missing or wrong"),
        ("PUT", "/scale", '{"executors": 4}', "secret", 409, "mode is policy"),
        ("PUT", "/scale", "four", "secret", 400, "valid JSON"),
        ("PUT", "/scale", "[4]", "secret", 400, "JSON object"),
        ("PUT", "/sizing", '{"mode": "x", "size": 0}', "secret", 400, "size must be"),
        ("PUT", "/scale", "x" * 70_000, "secret", 413, "bytes"),
        ("PUT", "/size", "{}", "secret", 404, "/scale"),
        ("GET", "/size", None, None, 404, "/status"),
    ],
)
def test_invalid_requests_are_rejected_with_a_reason(
    serve, method, path, body, token, status, message
):
    server, _ = serve()
    answered, read = ask(server, method, path, body, token)
    assert answered == status
    assert message in read["error"]


def test_writes_are_rejected_without_a_configured_token(serve):
    server, _ = serve(token=None)
    status, read = ask(server, "PUT", "/halt", "{}", token="")
    assert (status, "RHEOSTAT_TOKEN" in read["error"]) == (403, True)


def test_the_job_is_halted_and_resumed(serve):
    server, _ = serve()
    assert ask(server, "PUT", "/halt")[1]["halted"] is True
    assert ask(server, "PUT", "/resume")[1]["halted"] is False


def test_halt_and_resume_accept_an_address(serve, monkeypatch, capsys):
    server, service = serve()
    monkeypatch.delenv("RHEOSTAT_TOKEN", raising=False)
    assert run(["halt", server.address]) == 2
    assert "set RHEOSTAT_TOKEN" in capsys.readouterr().err
    monkeypatch.setenv("RHEOSTAT_TOKEN", "guess")
    assert run(["halt", server.address]) == 2
    assert "missing or wrong" in capsys.readouterr().err
    monkeypatch.setenv("RHEOSTAT_TOKEN", "secret")
    assert run(["halt", server.address]) == 0
    assert run(["resume", f"http://{server.address}"]) == 0
    service.direct(Sizing(paused=True))
    monkeypatch.setattr(Nothing, "resume", lambda self: None)
    assert run(["resume", server.address]) == 1
    assert "still halted (paused by the control API)" in capsys.readouterr().err


def test_an_unreachable_address_is_reported_in_one_line(serve, monkeypatch, capsys):
    server, _ = serve()
    server.close()
    monkeypatch.setenv("RHEOSTAT_TOKEN", "secret")
    assert run(["halt", server.address]) == 1
    assert "does not answer" in capsys.readouterr().err


def test_metrics_use_the_prometheus_text_format(serve):
    server, service = serve()
    observation = Observation(t_s=0, application="app-1", executors=2, busy=0.25)
    decision = Decision(target=2, reason="")
    service.see(
        Record(
            t_s=0,
            observation=observation,
            queries=(),
            raw=decision,
            guards=(),
            target=2,
            actions=(),
            rescaling=Rescaling(phase="steady"),
        )
    )
    _, text = ask(server, "GET", "/metrics", token=None)
    assert 'rheostat_utilization{application="app-1"} 0.25' in text
    assert "rheostat_lag_rows" not in text


def test_a_port_already_in_use_is_reported_in_one_line(serve):
    server, _ = serve()
    port = int(server.address.rpartition(":")[2])
    with pytest.raises(BadInput, match="cannot listen on"):
        Server(control_app(server_service(), Access()), "127.0.0.1", port)


def test_an_invalid_report_is_rejected():
    assert report_of(report_json(Report(executors=3))) == Report(executors=3)
    with pytest.raises(ValueError, match="schema"):
        report_of({"schema": 99})


def test_a_closed_server_does_not_answer_on_an_open_connection(serve):
    server, _ = serve()
    connection = http.client.HTTPConnection(server.address, timeout=120)
    connection.request("GET", "/status")
    connection.getresponse().read()
    server.close()
    connection.request("GET", "/status")
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        connection.getresponse()
    connection.close()


def opened(server, request):
    host, port = server.address.split(":")
    connection = socket.create_connection((host, int(port)), timeout=30)
    connection.sendall(request)
    return connection


def test_two_hundred_connections_are_answered_and_the_next_is_served(serve):
    server, _ = serve()
    request = f"GET /status HTTP/1.1\r\nHost: {server.address}\r\n\r\n".encode()
    connections, statuses = [], []
    for _ in range(50):  # each is answered before the next one is opened
        connections.append(opened(server, request))
        statuses.append(connections[-1].recv(4096).split()[1])
    assert set(statuses) == {b"200"}
    others = [opened(server, request) for _ in range(150)]
    statuses += [other.recv(4096).split()[1] for other in others]
    assert set(statuses) == {b"200", b"503"}
    connections += others
    for connection in connections:
        connection.close()
    answers = (ask(server, "GET", "/status")[0] for _ in range(1000))
    assert 200 in answers  # once the server has detected that the others are closed
