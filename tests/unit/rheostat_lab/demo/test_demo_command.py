"""The command line of the demo, with a synthetic run."""

from __future__ import annotations

import json
import os
import signal

import pytest

from rheostat.cli.app import run
from rheostat_lab.demo import demo_run
from rheostat_lab.report.summary import summarize, to_json


@pytest.fixture
def played(monkeypatch, day_run):
    summary = summarize(day_run)

    def perform(demo, view, full):
        view.note(demo.in_words())
        return day_run, summary

    monkeypatch.setattr(demo_run, "perform", perform)
    return summary


def test_standard_output_contains_only_the_json(capsys, tmp_path, played):
    assert run(["demo", "--json", "--out", str(tmp_path)]) == (0 if played.exact else 1)
    shown = capsys.readouterr()
    assert json.loads(shown.out) == json.loads(json.dumps(to_json(played)))
    assert "Nexmark q1" in shown.err
    assert "report.html" in shown.err


def test_without_json_the_result_is_printed_on_standard_output(capsys, tmp_path, played):
    run(["demo", "--out", str(tmp_path)])
    shown = capsys.readouterr()
    assert "report.html" in shown.out
    assert shown.err == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_demo_with_its_exit_code(capsys, tmp_path, monkeypatch, number):
    monkeypatch.setattr(demo_run, "perform", lambda *_: os.kill(os.getpid(), number))
    # A background process may ignore the signal, and would pass that on to this one.
    before = signal.signal(
        number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    )
    assert run(["demo", "--out", str(tmp_path)]) == 128 + number
    signal.signal(number, before)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--service-ms", "-1"), "service ms must be between 0 and 1000, but it is -1"),
        (("--service-ms", "nan"), "but it is nan"),
        (("--seconds", "nan"), "but it is nan"),
        (("--seconds", "1e9"), "but it is 1e+09"),
        (("--min", "0"), "min executors must be at least 1"),
        (("--max", "101"), "but it is 101"),
        (("--seed", "-1"), "but it is -1"),
        (("--source", "kinesis"), "source must be kafka, files, delta, but it is 'kinesis'"),
        (("--source", "files", "--operator"), "leave out --source files"),
    ],
)
def test_invalid_options_are_rejected_without_creating_the_folder(
    capsys, tmp_path, options, message
):
    assert run(["demo", "--out", str(tmp_path / "out"), *options]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()
