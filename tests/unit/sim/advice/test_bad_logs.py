# mypy: disallow-untyped-calls=False
"""Logs that cannot be analysed take one line each, and the others are processed."""

import os

import pytest
from pyarrow.fs import LocalFileSystem
from tests.unit.replay.event_logs.written_log import (
    START_S,
    STREAMING,
    event,
    stamp,
    written_log,
)

from rheostat.errors import BadInput
from rheostat.model import Slo
from rheostat.replay.event_logs.application_log import read_log
from rheostat.replay.event_logs.log_files import find_logs
from rheostat.replay.event_logs.log_recording import query_name
from rheostat.sim.advice import advise_job
from rheostat.sim.advice.advise_job import Request, rows_of


def text(rate=100.0, batches=3):
    return "\n".join(written_log(lambda t_s: rate, batches)) + "\n"


def spark_2(version):
    lines = written_log(lambda t_s: 100.0, 40)
    return "\n".join(lines).replace('"Spark Version":"4.0.1"', f'"Spark Version":"{version}"')


def two_clocks():
    lines = list(written_log(lambda t_s: 100.0, 30))
    return "\n".join([*lines, *(line.replace("2023-11-14T22", "2023-11-14T21") for line in lines)])


def progress_only():
    return "\n".join(line for line in written_log(lambda t_s: 9.0, 30) if "Progress" in line)


BAD = {
    "a_other_tool": (b"2026-11-28 INFO started\n" * 30, "no line is an event of Spark"),
    "b_json_of_others": (b'{"level":"info"}\n' * 30, "no line is an event of Spark"),
    "c_empty": (b"", "it is empty"),
    "d_encrypted": (os.urandom(4000), "no line is an event of Spark"),
    "e_encrypted.zstd": (os.urandom(4000), "it is empty, or its content is not of the compression"),
    "f_encrypted.lz4": (os.urandom(4000), "it is empty, or its content is not of the compression"),
    "g_spark2": (spark_2("2.4.8").encode(), "Spark 2.4.8 is not supported"),
    "h_two_clocks": (two_clocks().encode(), "its times go back by 36"),
    "i_short": (text().encode(), "the recording shows"),
    "j_lzf.lzf": (b"ZV", "LZF"),
    "k_progress": (progress_only().encode(), "it shows no executors"),
    "l_renamed.gz": (b"plain", "it is empty, or its content is not of the compression"),
}


def test_every_bad_log_in_a_folder_takes_one_line_and_the_others_are_read(tmp_path):
    for name, (content, _) in BAD.items():
        (tmp_path / name).write_bytes(content)
    request = Request(place=str(tmp_path), slo=Slo(latency_s=10.0))
    reasons = [row.cannot for log in find_logs(str(tmp_path)) for row in rows_of(log, request)]
    assert len(reasons) == len(BAD)
    for reason, (_, expected) in zip(reasons, BAD.values(), strict=True):
        assert reason is not None
        assert expected in reason
        assert "\n" not in reason


def test_an_unreadable_log_takes_one_line(tmp_path, monkeypatch):
    def refused(log, place):
        raise PermissionError(13, "Permission denied", "app-1")

    (tmp_path / "app-1").write_text(text())
    monkeypatch.setattr(advise_job, "lines", refused)
    (log,) = find_logs(str(tmp_path))
    (row,) = rows_of(log, Request(place=str(tmp_path), slo=Slo(latency_s=10.0)))
    assert row.cannot == "it cannot be read: Permission denied"


def test_a_log_that_exposes_a_reader_defect_takes_one_line(tmp_path, monkeypatch):
    def defective(log, place):
        raise ZeroDivisionError("division by zero")

    (tmp_path / "app-1").write_text(text())
    monkeypatch.setattr(advise_job, "lines", defective)
    (log,) = find_logs(str(tmp_path))
    (row,) = rows_of(log, Request(place=str(tmp_path), slo=Slo(latency_s=10.0)))
    assert row.cannot == (
        "a defect of Rheostat, please report it: ZeroDivisionError: division by zero"
    )


def test_an_unlistable_rolled_log_takes_one_line_and_the_others_are_read(tmp_path, monkeypatch):
    class Refusing(LocalFileSystem):  # type: ignore[misc]
        def get_file_info(self, paths_or_selector):
            if getattr(paths_or_selector, "base_dir", "").endswith("eventlog_v2_app-1"):
                raise PermissionError(13, "Permission denied")
            return super().get_file_info(paths_or_selector)

    (tmp_path / "eventlog_v2_app-1").mkdir()
    (tmp_path / "app-2").write_text(text())
    monkeypatch.setattr("pyarrow.fs.LocalFileSystem", Refusing)
    request = Request(place=str(tmp_path), slo=Slo(latency_s=10.0))
    readable, refused = (
        row.cannot for log in find_logs(str(tmp_path)) for row in rows_of(log, request)
    )
    assert refused == "it cannot be read: Permission denied"
    assert "the recording shows" in (readable or "")


def test_a_folder_without_logs_is_rejected(tmp_path):
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(BadInput, match="there is no event log in"):
        find_logs(str(tmp_path))


def test_unknown_events_and_fields_of_a_newer_spark_are_ignored():
    plain = list(written_log(lambda t_s: 100.0, 5))
    newer = [
        *(
            line.replace('"Event":', '"Event":', 1)[:-1] + ',"New Field":{"x":[1]}}'
            for line in plain
        ),
        event("SparkListenerOfTomorrow", **{"Stage ID": "x"}),
    ]
    read, expected = read_log("app", newer), read_log("app", plain)
    assert read.malformed == 0
    assert read.queries == expected.queries


def test_a_renamed_query_is_reported_under_its_last_name():
    lines = list(written_log(lambda t_s: 100.0, 6))
    renamed = [*lines[:40], *(line.replace('"orders"', '"sales"') for line in lines[40:])]
    read = read_log("app", renamed)
    (query,) = read.queries.values()
    assert (query_name(read, query), len(query.progress)) == ("sales", 6)
    assert query.earlier_names == ["orders"]


def test_only_the_last_hours_are_kept_in_memory():
    read = read_log("app", written_log(lambda t_s: 10.0, 9000, fixed_s=1.0), hours=0.5)
    (query,) = read.queries.values()
    assert 1500 < len(query.progress) < 1800 + 4096


def test_a_query_whose_runs_end_by_themselves_is_not_judged_by_its_latency(tmp_path):
    lines, batches = [], 0
    for line in written_log(lambda t_s: 100.0, 40):
        lines.append(line.replace("r-1", f"r-{batches // 10}"))
        if "QueryProgress" in line and (batches := batches + 1) % 10 == 0:
            run = f"r-{batches // 10 - 1}"
            lines.append(event(f"{STREAMING}QueryTerminatedEvent", id="q-1", runId=run))
    (tmp_path / "app-1").write_text("\n".join(lines))
    (log,) = find_logs(str(tmp_path))
    (row,) = rows_of(log, Request(place=str(tmp_path), slo=Slo(latency_s=10.0)))
    assert (row.cannot or "").startswith("4 of its runs ended by themselves")


def test_a_query_that_failed_before_it_could_be_judged_is_shown_with_its_failure(tmp_path):
    failed = event(
        f"{STREAMING}QueryTerminatedEvent", id="q-1", runId="r-1", exception="No topic\n\tat x"
    )
    (tmp_path / "app-1").write_text(text() + failed)
    (log,) = find_logs(str(tmp_path))
    (row,) = rows_of(log, Request(place=str(tmp_path), slo=Slo(latency_s=10.0)))
    assert (row.cannot or "").endswith("and a fit needs 8; it failed: No topic")


def idle(t_s):
    return event(f"{STREAMING}QueryIdleEvent", id="q-1", runId="r-1", timestamp=stamp(t_s))


def after_a_pause(with_idle_events):
    """A query with 40 batches, and 60 more ten minutes later."""
    first = list(written_log(lambda t_s: 100.0, 40))[:-1]
    later = [
        line.replace("2023-11-14T22:13", "2023-11-14T22:23").replace("T22:14", "T22:24")
        for line in list(written_log(lambda t_s: 100.0, 60))[6:-1]
    ]
    between = [idle(START_S + 60.0 + 10 * number) for number in range(53)]
    return [*first, *(between if with_idle_events else []), *later]


def test_an_idle_query_is_analysed_including_its_pause(tmp_path):
    row = analysed(tmp_path, after_a_pause(with_idle_events=True))
    assert (row.facts["parts"], row.facts["batches"]) == (1, 100)
    assert row.advice["hours"] == pytest.approx(0.18, abs=0.01)


def test_only_the_longest_run_of_a_stopped_query_is_analysed(tmp_path):
    row = analysed(tmp_path, after_a_pause(with_idle_events=False))
    assert (row.facts["parts"], row.facts["batches"]) == (2, 100)
    assert 0.005 < row.advice["hours"] < 0.02


def analysed(folder, lines):
    (folder / "app-1").write_text("\n".join(lines))
    (log,) = find_logs(str(folder))
    (row,) = rows_of(log, Request(place=str(folder), slo=Slo(latency_s=10.0)))
    assert row.advice is not None, row.cannot
    return row
