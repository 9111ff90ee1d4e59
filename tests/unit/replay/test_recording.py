import json
from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat.journal.folder import FolderJournal
from rheostat.model import ExecutorSample, InFlight, Observation, Record, Rescaling, Stage
from rheostat.replay.recording import find, kind_of, packaged, read

STAGES = '[{"name": "map", "upstream": ["bids"], "rows_in": 9, "busy_s": 0.5}]'
CELLS = {
    "t_s": "1.5",
    "executors": "3",
    "query": "q",
    "lag_rows": "",
    "cpu": "nan",
    "busy": "0.25",
    "inputs": '{"bids": 9.0}',
    "broker_up": "false",
    "in_flight": '{"elapsed_s": 2}',
    "stages": STAGES,
    "by_executor": '{"7": {"cpu": 0.5}}',
}
OBSERVATION = Observation(
    t_s=1.5,
    executors=3,
    query="q",
    busy=0.25,
    inputs={"bids": 9.0},
    broker_up=False,
    in_flight=InFlight(elapsed_s=2),
    stages=(Stage(name="map", upstream=("bids",), rows_in=9, busy_s=0.5),),
    by_executor={"7": ExecutorSample(cpu=0.5)},
)


def csv_file(path: Path, *rows: list[str]) -> Path:
    path.write_text(
        "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)
        + "\n",
        encoding="utf-8",
    )
    return path


def observations(path: Path, application: str | None = None) -> list[Observation]:
    return [moment.observation for moment in read(path)[application]]


def test_a_csv_row_is_an_observation_and_an_empty_cell_is_absent(tmp_path):
    assert observations(csv_file(tmp_path / "a.csv", list(CELLS), list(CELLS.values()))) == [
        OBSERVATION
    ]


@pytest.mark.parametrize(
    ("cell", "value"), [("True", True), ("1", True), ("0", False), ("", None), ("nan", None)]
)
def test_a_flag_is_true_false_or_absent(tmp_path, cell, value):
    (observed,) = observations(csv_file(tmp_path / "a.csv", ["t_s", "broker_up"], ["1", cell]))
    assert observed.broker_up is value


def test_an_invalid_flag_is_rejected_with_its_value(tmp_path):
    path = csv_file(tmp_path / "a.csv", ["t_s", "broker_up"], ["1", "perhaps"])
    with pytest.raises(BadInput, match="broker_up must be true or false, but it is 'perhaps'"):
        observations(path)


def test_a_parquet_row_with_nested_columns_equals_the_csv_row(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    nested = {
        name: json.loads(CELLS[name]) for name in ("inputs", "in_flight", "stages", "by_executor")
    }
    plain = {
        "t_s": 1.5,
        "executors": 3,
        "query": "q",
        "lag_rows": None,
        "busy": 0.25,
        "broker_up": False,
        "__index_level_0__": 0,
    }
    table = pa.Table.from_pylist([{**plain, **nested}])
    inputs = pa.array([[("bids", 9.0)]], pa.map_(pa.string(), pa.float64()))
    table = table.set_column(table.column_names.index("inputs"), "inputs", inputs)
    pq.write_table(table, tmp_path / "a.parquet")
    assert observations(tmp_path / "a.parquet") == [OBSERVATION]
    folder = tmp_path / "folder"
    folder.mkdir()
    pq.write_table(table, folder / "part-0.parquet")
    assert observations(folder) == [OBSERVATION]


def test_an_integer_stored_as_a_float_is_restored(tmp_path):
    assert (
        observations(csv_file(tmp_path / "a.csv", ["t_s", "executors"], ["0", "8.0"]))[0].executors
        == 8
    )


def test_a_journal_is_replayed_as_a_folder_and_as_a_file(tmp_path):
    journal = FolderJournal(tmp_path / "journal", records_per_segment=2)
    for n in range(3):
        observation = Observation(t_s=float(n), executors=2, lag_rows=5.0 * n)
        steady = Rescaling(phase="steady")
        journal.append(
            Record(
                t_s=float(n),
                observation=observation,
                queries=(),
                raw=None,
                guards=(),
                target=2,
                actions=(),
                rescaling=steady,
            ),
            {},
        )
    idle = Rescaling(phase="idle")
    journal.append(
        Record(
            t_s=3.0,
            observation=None,
            queries=(),
            raw=None,
            guards=(),
            target=None,
            actions=(),
            rescaling=idle,
        ),
        {},
    )
    journal.close()
    assert [observation.lag_rows for observation in observations(tmp_path / "journal")] == [
        0.0,
        5.0,
        10.0,
    ]
    assert [
        observation.t_s
        for observation in observations(tmp_path / "journal" / "segment-00000.jsonl")
    ] == [
        0.0,
        1.0,
    ]


def test_the_file_format_is_detected_from_the_content(tmp_path):
    (tmp_path / "a").write_bytes(b'{"schema": 1}')
    (tmp_path / "b").write_bytes(b"PAR1...")
    (tmp_path / "c").write_bytes(b"\xef\xbb\xbft_s\n")
    assert [kind_of(tmp_path / name) for name in "abc"] == ["journal", "parquet", "csv"]


def test_an_application_may_be_named_none(tmp_path):
    path = csv_file(tmp_path / "a.csv", ["t_s", "application", "cpu"], ["0", "none", "none"])
    assert observations(path, "none") == [Observation(t_s=0.0, application="none")]


def test_a_byte_order_mark_and_blank_lines_are_ignored(tmp_path):
    (tmp_path / "a.csv").write_text("\ufefft_s,executors\n\n1,2\n\n", encoding="utf-8")
    assert observations(tmp_path / "a.csv") == [Observation(t_s=1.0, executors=2)]


def test_applications_are_separated_and_their_queries_combined(tmp_path):
    header = ["t_s", "application", "query", "executors", "input_rows_per_s"]
    rows = [
        ["0", "a", "x", "2", "10"],
        ["0", "a", "y", "2", "20"],
        ["0", "b", "", "5", "7"],
        ["1", "a", "x", "2", "10"],
    ]
    recording = read(csv_file(tmp_path / "a.csv", header, *rows))
    assert [moment.observation.input_rows_per_s for moment in recording["a"]] == [30.0, 10.0]
    assert [moment.observation.executors for moment in recording["b"]] == [5]


def test_a_packaged_recording_is_loaded_by_its_name(tmp_path, monkeypatch):
    assert len(packaged()) == 15
    assert find("query-1_HPA_50") == find("query-1_HPA_50.csv") == packaged()["query-1_HPA_50"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "query-1_HPA_50").write_text("t_s\n1\n")
    assert find("query-1_HPA_50").resolve() == tmp_path / "query-1_HPA_50"
    with pytest.raises(
        BadInput, match=r"there is no recording nope; it is a file, .*query-1_HPA_50"
    ):
        find("nope")


def test_the_telemetry_includes_its_license_notice():
    notice = (packaged()["query-1_HPA_50"].parent / "README.md").read_text(encoding="utf-8")
    assert "delftdata/espa-autoscaling" in notice
    assert "Apache License, Version 2.0" in notice
