"""Senders send each record until it is acknowledged; the verdict compares the output."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat_lab.push import sender
from rheostat_lab.push.push_verdict import judge
from rheostat_lab.push.sender import HttpLine, Senders, receivers, value_of

rows = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["right", "wrong"])), max_size=12
)


@settings(max_examples=20)
@given(st.sets(st.sampled_from("abcd")), st.sets(st.sampled_from("abcd")), rows)
def test_a_verdict_matches_a_plain_count(
    acknowledged: set[str], more: set[str], received: list[tuple[str, str]]
) -> None:
    tried = acknowledged | more
    out = [(name, value_of(name) if kind == "right" else "?") for name, kind in received]
    verdict, counts = judge(acknowledged, tried, out), Counter(name for name, _ in received)
    assert (verdict.acknowledged, verdict.came) == (len(acknowledged), len(counts))
    assert verdict.missing == sum(name not in counts for name in acknowledged)
    assert verdict.doubled == len(received) - len(counts)
    assert verdict.wrong == sum(name not in tried or kind == "wrong" for name, kind in received)
    assert verdict.unacknowledged == sum(name not in acknowledged for name in counts)
    assert verdict.exact == (verdict.missing + verdict.doubled + verdict.wrong == 0)


class Flaky:
    """A line that fails every third time, before or after accepting the records."""

    took: Counter[str]
    calls: int

    def __init__(self, address: str) -> None:
        self.address = address
        if address == "refuses:1":
            raise OSError("refused")

    def send(self, ids: Sequence[str]) -> None:
        kind = type(self)
        kind.calls += 1
        if kind.calls % 3 == 1:
            raise OSError("before")
        kind.took.update(ids)
        if kind.calls % 3 == 2:
            raise OSError("after")

    def close(self) -> None:
        pass


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> type[Flaky]:
    kind = type("Fresh", (Flaky,), {"took": Counter(), "calls": 0})
    monkeypatch.setitem(sender.LINES, "http", kind)
    for name in ("_STEP_S", "_AGAIN_S"):
        monkeypatch.setattr(sender, name, 0.002)
    return kind


def run_senders(find: Callable[[str], list[str]]) -> Senders:
    """Return senders that have sent some records and finished."""
    made = Senders("host:1", "http", 2, lambda _: 2000.0, find, prefix="x").start()
    deadline = threading.Event()
    for _ in range(500):
        if sum(made.due) > 30:
            break
        deadline.wait(0.002)
    assert made.finish(within_s=10.0)
    return made


def test_every_record_is_acknowledged_and_delivered_at_least_once(
    quick: type[Flaky],
) -> None:
    done = run_senders(lambda _: ["a:1", "b:1"])
    assert len(done.ids) == sum(done.due) > 30
    assert done.ids == done.tried == set(quick.took)
    assert done.retries > 0
    # Records whose acknowledgement failed were sent again: a sender guarantees at-least-once only.
    assert quick.took.total() > len(done.ids)
    counts = [count for _, count in done.acknowledged]
    assert counts == sorted(counts)


def test_a_rejecting_receiver_is_replaced_by_an_accepting_one(quick: type[Flaky]) -> None:
    directories = []

    def find(directory: str) -> list[str]:
        directories.append(directory)
        return ["refuses:1"] if len(directories) < 3 else ["good:1"]

    done = run_senders(find)
    assert len(done.ids) == sum(done.due)
    assert set(directories) == {"host:1"}


def test_without_a_receiver_nothing_is_lost_or_acknowledged(quick: type[Flaky]) -> None:
    with Senders("host:1", "http", 1, lambda _: 2000.0, lambda _: []) as made:
        for _ in range(200):
            if made.due[0]:
                break
            threading.Event().wait(0.002)
        assert not made.finish(within_s=0.02)
    assert made.due[0] > 0
    assert (made.ids, made.tried) == (set(), set())


@contextmanager
def answering(text: str, status: int = 200) -> Iterator[str]:
    """Serve the same answer to every request, and yield the address."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ('{"acknowledged": 1}', 200),
        ('{"acknowledged": 2}', 503),
        ("[]", 200),
        ("no json", 200),
        ("{}", 200),
    ],
)
def test_only_a_complete_answer_is_an_acknowledgement(text: str, status: int) -> None:
    with answering(text, status) as address:
        line = HttpLine(address)
        with pytest.raises(OSError):  # noqa: PT011 - any of them
            line.send(["a", "b"])
        line.close()


def test_an_answer_for_all_records_is_an_acknowledgement() -> None:
    with answering('{"acknowledged": 2}') as address:
        line = HttpLine(address)
        line.send(["a", "b"])
        line.close()


@pytest.mark.parametrize("text", ["[]", "{}", "no json", '{"receivers": 3}'])
def test_an_invalid_directory_answer_has_no_receivers(text: str) -> None:
    with answering(text) as address:
        assert receivers(address) == []


def test_receivers_are_read_from_the_directory() -> None:
    with answering(json.dumps({"receivers": ["a:1", "b:2"]})) as address:
        assert receivers(address) == ["a:1", "b:2"]
    assert receivers("127.0.0.1:1") == []
