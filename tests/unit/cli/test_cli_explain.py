import json
from pathlib import Path

import pytest

from rheostat.cli.app import run
from rheostat.journal.folder import FolderJournal
from rheostat.model import Decision, GuardChange, Observation, Record, Rescaling

START_S = 1_769_850_000.0  # 2026-01-31 09:00:00 UTC


def tick(n: int, size: int, target: int) -> Record:
    t_s = START_S + 5.0 * n
    observation = Observation(
        t_s=t_s, executors=size, target=size, input_rows_per_s=1500.0, lag_s=4.0
    )
    raw = Decision(target=target + 1, reason="lag", evidence={"rate": 1500.0})
    change = GuardChange(
        guard="bounds", before=target + 1, after=target, reason=f"lag; max executors is {target}"
    )
    rescaling = (
        Rescaling(phase="growing", detail="waiting for 2")
        if target > size
        else Rescaling(phase="steady")
    )
    return Record(
        t_s=t_s,
        observation=observation,
        queries=(),
        raw=raw,
        guards=(change,),
        target=target,
        actions=(),
        rescaling=rescaling,
    )


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    folder = tmp_path / "journal"
    kept = FolderJournal(folder)
    for n, (size, target) in enumerate([(2, 2), (2, 4), (4, 4), (4, 3)]):
        kept.append(tick(n, size, target), {})
    kept.close()
    return folder


def run_explain(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = run(["explain", *map(str, arguments)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_without_a_change_the_last_decision_is_explained(capsys, tmp_path):
    kept = FolderJournal(tmp_path)
    for n in range(3):
        kept.append(tick(n, 2, 2), {})
    kept.close()
    code, out, _ = run_explain(capsys, tmp_path)
    assert code == 0
    first, _, second, third, *_ = out.splitlines()
    assert first == (
        "The target has been 2 executors for 10 s; 100% of the decisions since gave this reason:"
        " lag; max executors is 2"
    )
    assert second == "The last decision:"
    assert third.startswith("2026-01-31 09:00:10 UTC")
    assert "wanted 3: lag" in out


def test_all_changes_are_explained_in_text(capsys, journal):
    code, out, _ = run_explain(capsys, journal)
    assert code == 0
    assert [line for line in out.splitlines() if not line.startswith(" ")] == [
        "2026-01-31 09:00:05 UTC (1769850005): 2 -> 4 executors: wanted 5, allowed 4 (bounds)",
        "",
        "2026-01-31 09:00:15 UTC (1769850015): 4 -> 3 executors: wanted 4, allowed 3 (bounds)",
        "",
        "The target has been 3 executors for 0 s; 100% of the decisions since gave this reason:"
        " lag; max executors is 3",
    ]
    assert "observed: 2 executors, 1,500 rows/s arrive, the oldest row has waited 4 s" in out
    assert "wanted 5: lag [arrival rate: 1,500 rows/s]" in out
    assert "allowed 4, not 5, by bounds: max executors is 4" in out
    assert "rescaling: growing, waiting for 2" in out


@pytest.mark.parametrize(
    "at", ["1769850012", "2026-01-31T09:00:12", "2026-01-31T09:00:12Z", "2026-01-31T10:00:12+01:00"]
)
def test_the_decision_in_force_at_a_time_is_shown(capsys, journal, at):
    code, out, _ = run_explain(capsys, journal, "--at", at)
    assert code == 0
    assert out.startswith("2026-01-31 09:00:10 UTC (1769850010): stay at 4 executors")


def test_json_and_out_contain_the_records(capsys, journal, tmp_path):
    code, out, _ = run_explain(capsys, journal, "--json", "--out", tmp_path / "a.jsonl")
    assert code == 0
    assert [json.loads(line)["target"] for line in out.splitlines()] == [4, 3]
    assert (tmp_path / "a.jsonl").read_text(encoding="utf-8") == out


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("now", "--at must be seconds or a UTC time like"),
        ("nan", "--at must be a finite time"),
        ("5", "--at 5 s is before the journal"),
        ("5", "which extends from 2026-01-31 09:00:00 UTC (1769850000) to 2026-01-31 09:00:15"),
    ],
)
def test_an_invalid_time_is_reported_in_one_line(capsys, journal, at, expected):
    code, _, err = run_explain(capsys, journal, "--at", at)
    assert (code, len(err.splitlines())) == (2, 1)
    assert expected in err


def test_a_time_after_the_last_record_is_reported_with_the_time_span(capsys, journal):
    code, out, err = run_explain(capsys, journal, "--at", "2026-01-31T12:00")
    assert code == 0
    assert out.startswith("2026-01-31 09:00:15 UTC (1769850015): 4 -> 3 executors")
    assert err.count("\n") == 1
    assert "is after the journal" in err
    assert "from 2026-01-31 09:00:00 UTC (1769850000) to 2026-01-31 09:00:15 UTC" in err


def test_a_folder_that_contains_a_journal_names_its_location(capsys, journal):
    code, _, err = run_explain(capsys, journal.parent)
    assert (code, len(err.splitlines())) == (2, 1)
    assert f"there is one in {journal}" in err


def test_a_corrupt_complete_line_is_reported_with_its_number(capsys, journal):
    path = journal / "segment-00000.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], lines[1][:40], *lines[2:]]) + "\n", encoding="utf-8")
    code, _, err = run_explain(capsys, journal)
    assert (code, len(err.splitlines())) == (2, 1)
    assert "segment-00000.jsonl, line 2: this is not a journal record" in err


def test_a_truncated_last_line_is_ignored(capsys, journal):
    path = journal / "segment-00000.jsonl"
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    code, out, _ = run_explain(capsys, journal)
    assert code == 0
    assert "09:00:15" not in out


def test_a_missing_and_an_empty_journal_are_reported_in_one_line(capsys, tmp_path):
    for path, expected in (
        (tmp_path / "none", "there is no journal"),
        (tmp_path, "there is no journal in"),
    ):
        code, _, err = run_explain(capsys, path)
        assert (code, len(err.splitlines())) == (2, 1)
        assert expected in err
    (tmp_path / "segment-00000.jsonl").write_text("", encoding="utf-8")
    assert "holds no records" in run_explain(capsys, tmp_path)[2]


def test_without_a_change_json_prints_nothing(capsys, tmp_path):
    kept = FolderJournal(tmp_path)
    kept.append(tick(0, 2, 2), {})
    kept.close()
    assert run_explain(capsys, tmp_path, "--json") == (0, "", "")
