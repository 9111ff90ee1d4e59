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
def test_a_verdict_counts_what_a_plain_count_does(
    told: set[str], more: set[str], came: list[tuple[str, str]]
) -> None:
    tried = told | more
    out = [(name, value_of(name) if kind == "right" else "?") for name, kind in came]
    found, counts = judge(told, tried, out), Counter(name for name, _ in came)
    assert (found.acknowledged, found.came) == (len(told), len(counts))
    assert found.missing == sum(name not in counts for name in told)
    assert found.doubled == len(came) - len(counts)
    assert found.wrong == sum(name not in tried or kind == "wrong" for name, kind in came)
    assert found.unacknowledged == sum(name not in told for name in counts)
    assert found.exact == (found.missing + found.doubled + found.wrong == 0)


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


def sent(find: Callable[[str], list[str]]) -> Senders:
    """Return senders that have sent some records and finished."""
    made = Senders("host:1", "http", 2, lambda _: 2000.0, find, prefix="x").start()
    deadline = threading.Event()
    for _ in range(500):
        if sum(made.due) > 30:
            break
        deadline.wait(0.002)
    assert made.finish(within_s=10.0)
    return made


def test_every_record_is_acknowledged_in_the_end_and_comes_at_least_once(
    quick: type[Flaky],
) -> None:
    done = sent(lambda _: ["a:1", "b:1"])
    assert len(done.ids) == sum(done.due) > 30
    assert done.ids == done.tried == set(quick.took)
    assert done.retries > 0
    # Records whose acknowledgement failed were sent again: a sender guarantees at-least-once only.
    assert quick.took.total() > len(done.ids)
    counts = [count for _, count in done.acknowledged]
    assert counts == sorted(counts)


def test_a_receiver_that_refuses_is_left_for_one_that_takes(quick: type[Flaky]) -> None:
    asked = []

    def find(directory: str) -> list[str]:
        asked.append(directory)
        return ["refuses:1"] if len(asked) < 3 else ["good:1"]

    done = sent(find)
    assert len(done.ids) == sum(done.due)
    assert set(asked) == {"host:1"}


def test_without_a_receiver_nothing_is_lost_and_nothing_is_acknowledged(quick: type[Flaky]) -> None:
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

        def log_message(self, *said: object) -> None:
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
def test_only_an_answer_for_all_records_is_an_acknowledgement(text: str, status: int) -> None:
    with answering(text, status) as address:
        line = HttpLine(address)
        with pytest.raises(OSError):  # noqa: PT011 - any of them
            line.send(["a", "b"])
        line.close()


def test_an_answer_for_all_of_them_is_one() -> None:
    with answering('{"acknowledged": 2}') as address:
        line = HttpLine(address)
        line.send(["a", "b"])
        line.close()


@pytest.mark.parametrize("text", ["[]", "{}", "no json", '{"receivers": 3}'])
def test_a_directory_that_says_nothing_useful_has_no_receivers(text: str) -> None:
    with answering(text) as address:
        assert receivers(address) == []


def test_the_receivers_are_those_of_the_directory() -> None:
    with answering(json.dumps({"receivers": ["a:1", "b:2"]})) as address:
        assert receivers(address) == ["a:1", "b:2"]
    assert receivers("127.0.0.1:1") == []
