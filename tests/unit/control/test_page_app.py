# mypy: disallow-untyped-calls=False
"""The page's HTTP interface: its answers, its access control, and its refusals."""

import json
import re
from typing import Any

import pytest

pytest.importorskip("httpx", reason="comes with the extra test")
pytest.importorskip("starlette", reason="comes with the extra serve")

from starlette.testclient import TestClient
from tests.unit.control.test_journal_job import journal
from tests.unit.control.test_series import tick
from tests.unit.control.test_server import server_service
from tests.unit.journal.test_totals import NOON_S

from rheostat.control.access import Access, host_is_known
from rheostat.control.control_app import control_app
from rheostat.control.jobs import Jobs, jobs_of
from rheostat.control.page_app import reading_app
from rheostat.control.page_text import page_html
from rheostat.errors import BadInput

LOCAL = "http://127.0.0.1"


@pytest.fixture
def places(tmp_path):
    for name in ("orders", "clicks"):
        journal(tmp_path / name, [tick(place) for place in range(30)])
    return tmp_path


def reader(places, access=None):
    jobs = jobs_of([str(places)], lambda _: None)
    return TestClient(reading_app(jobs, access or Access()), base_url=LOCAL), jobs


def driver(places, access=None, notes=None):
    jobs = jobs_of([str(places / "orders")], lambda _: True)
    record_note = (
        (lambda action, author: notes.append((action, author))) if notes is not None else None
    )
    service = server_service()
    app = control_app(service, access or Access("secret"), dict, jobs, record_note)
    return TestClient(app, base_url=LOCAL), service


def authorized(token="secret", **more):
    return {"Authorization": f"Bearer {token}", **more}


def test_a_folder_is_a_fleet_with_a_row_per_journal(places):
    client, _ = reader(places)
    rows = client.get("/api/jobs").json()["jobs"]
    assert len(rows) == 2
    assert {row["word"] for row in rows} == {"Not scaling"}
    for row in rows:
        assert client.get("/api/overview", params={"job": row["id"]}).status_code == 200


def test_a_new_journal_appears_and_ids_are_stable(places):
    client, jobs = reader(places)
    before = {row["id"] for row in client.get("/api/jobs").json()["jobs"]}
    journal(places / "late", [tick(0)])
    jobs._scanned_s = float("-inf")
    after = {row["id"] for row in client.get("/api/jobs").json()["jobs"]}
    assert len(after) == 3
    assert before < after


def test_the_api_serves_series_decisions_and_a_record(places):
    client, _ = driver(places)
    assert client.get("/api/series", params={"from": NOON_S, "points": 100}).json()["rate"]
    assert client.get("/api/decisions").json()
    assert client.get("/api/record", params={"at": NOON_S + 7}).json()["t_s"] == NOON_S + 5


@pytest.mark.parametrize("query", [{"from": "x"}, {"from": "nan"}, {"to": "1e999"}, {"job": "no"}])
def test_an_invalid_query_is_reported_in_one_line(places, query):
    client, _ = reader(places)
    answer = client.get("/api/series", params={"job": "no", **query})
    assert answer.status_code == 400
    assert "\n" not in answer.json()["error"]


def test_the_page_runs_only_its_own_scripts(places):
    client, _ = reader(places)
    answer = client.get("/")
    policy = answer.headers["content-security-policy"]
    assert "unsafe-inline" not in policy
    assert len(re.findall("sha256-", policy)) == 3  # the library, the page and the styles
    assert not re.search(r'(?:src|href)="(?:https?:)?//', answer.text)
    assert answer.headers["content-encoding"] == "gzip"


def test_the_page_and_its_library_are_small():
    assert len(page_html().encode()) < 400_000


def test_a_query_name_that_is_html_stays_text_in_a_frozen_page():
    html = page_html({"overview": {"name": "</script><img src=x onerror=alert(1)>"}})
    assert "</script><img" not in html
    assert html.count("</script>") == page_html().count("</script>")


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("127.0.0.1:8085", True),
        ("[::1]:8085", True),
        ("localhost", True),
        ("10.1.2.3:8085", True),
        ("jobs.example.com", True),
        ("evil.example.com:8085", False),
        ("", False),
    ],
)
def test_only_host_names_of_this_server_are_accepted(host, known):
    assert host_is_known(host, frozenset({"jobs.example.com"})) is known


def test_dns_rebinding_and_cross_site_writes_are_rejected(places):
    client, service = driver(places)
    assert client.get("/status", headers={"Host": "evil.example"}).status_code == 421
    headers = authorized(Origin="https://evil.example")
    assert client.put("/halt", headers=headers).status_code == 403
    assert service.report().halted is False
    own = authorized(Origin=LOCAL)
    assert client.put("/halt", headers=own).status_code == 200


@pytest.mark.parametrize("path", ["/api/jobs", "/api/events", "/metrics", "/status", "/overview"])
def test_a_read_token_protects_the_data_but_not_the_page(places, path):
    client, _ = driver(places, Access("secret", "read"))
    assert client.get("/").status_code == 200
    assert client.get(path).status_code == 401
    assert client.get(path, headers=authorized("wrong")).status_code == 401
    if path != "/api/events":  # this stream does not end
        for token in ("read", "secret"):
            assert client.get(path, headers=authorized(token)).status_code == 200


def test_the_read_token_cannot_write(places):
    client, service = driver(places, Access("secret", "read"))
    assert client.put("/halt", headers=authorized("read")).status_code == 401
    assert service.report().halted is False


def test_a_write_is_recorded_with_its_author(places):
    notes: list[tuple[str, str]] = []
    client, service = driver(places, notes=notes)
    author = {"X-Rheostat-Author": "Ann%20%3Cb%3E%0a"}
    body = json.dumps({"executors": 4, "minutes": 60})
    assert client.put("/pin", content=body, headers=authorized(**author)).status_code == 200
    assert service.report().sizing.size == 4
    assert client.put("/pin", content="{}", headers=authorized(**author)).status_code == 400
    ((action, name),) = notes
    assert action.startswith("pin ")
    assert name == "Ann <b> (testclient)"


def test_changing_limits_or_objective_changes_nothing_else(places):
    client, service = driver(places)
    client.put("/limits", content='{"min": 2, "max": 5}', headers=authorized())
    client.put("/objective", content='{"slo_s": 7}', headers=authorized())
    sizing = service.report().sizing
    assert (sizing.limits.min_executors, sizing.limits.max_executors) == (2, 5)
    assert sizing.slo.latency_s == 7
    wrong = client.put("/limits", content='{"min": 9, "max": 5}', headers=authorized())
    assert wrong.status_code == 400
    assert service.report().sizing == sizing


def test_a_body_of_ten_megabytes_is_rejected_declared_or_not(places):
    client, _ = driver(places)
    large = b"x" * 10_000_000
    assert client.put("/halt", content=large, headers=authorized()).status_code == 413
    parts = (large[at : at + 100_000] for at in range(0, len(large), 100_000))
    assert client.put("/halt", content=parts, headers=authorized()).status_code == 413


def test_an_unreadable_job_is_shown_as_blind():
    class Broken:
        name = address = "broken"

        def version(self):
            return ()

        def overview(self):
            raise OSError("gone")

    broken: Any = Broken()
    (row,) = Jobs(lambda: [broken]).rows()
    assert (row["word"], row["sentence"]) == ("Blind", "It cannot be read: gone")


def test_a_missing_journal_is_rejected(tmp_path):
    with pytest.raises(BadInput, match="no journal"):
        jobs_of([str(tmp_path / "missing")], lambda _: None)
