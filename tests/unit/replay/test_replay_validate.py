import json

import pytest

from rheostat.errors import BadInput
from rheostat.replay.recording import read

CYCLE = json.dumps([{"name": "a", "upstream": ["b"]}, {"name": "b", "upstream": ["a"]}])
UPSTREAM_TEXT = json.dumps([{"name": "a", "upstream": "b"}])
TWO_SOURCES = json.dumps([{"name": "a", "rows_in": 1}, {"name": "b", "rows_in": 1}])


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.csv is empty"),
        ("t_s,executors\n", "holds no observations"),
        ("t_s,bsy\n1,0.5\n", "unknown column 'bsy' in the header; did you mean busy?"),
        (
            "t_s,zzzzzz\n1,0.5\n",
            "unknown column 'zzzzzz' in the header; there are t_s, application",
        ),
        ("t_s,busy,busy\n1,0.5,0.5\n", "the column 'busy' occurs twice"),
        ("executors\n1\n", "there is no column t_s"),
        ("t_s,executors\n1,2\n,2\n", r"row 2 \(line 3\): t_s is empty"),
        ("t_s,executors\n1,2\n2\n", r"row 2 \(line 3\): 1 cells under 2 columns: '2'"),
        (
            "t_s,executors\n1,two\n",
            r"row 1 \(line 2\): executors must be a number, but it is 'two'",
        ),
        (
            "t_s,executors\n1,2.5\n",
            r"row 1 \(line 2\): executors must be a whole number, but it is 2.5",
        ),
        (
            "t_s,lag_rows\n1,5\n2,-5\n",
            r"row 2 \(line 3\): lag_rows must be at least 0, but it is -5",
        ),
        (
            "t_s,input_rows_per_s\n1,inf\n",
            r"row 1 \(line 2\): input_rows_per_s must be a finite number, but it is inf",
        ),
        ("t_s,input_rows_per_s\n1,1e999\n", "must be a finite number, but it is 1e999"),
        ("t_s,busy\n1,1.5\n", r"row 1 \(line 2\): busy is a share of time, 0 to 1, but it is 1.5"),
        ("t_s,idle\n1,850\n", "idle is a share of time, 0 to 1, but it is 850"),
        (
            "t_s,cpu\n1,70\n",
            "cpu is a share of a slot, 0 to 1, but it is 70; divide percent by 100",
        ),
        ("t_s\n2\n1\n", r"row 2 \(line 3\): times must rise, but 1 s comes after 2 s"),
        ("t_s\n2\n2\n", r"row 2 \(line 3\): the time 2 s occurs twice \(before in a.csv, row 1"),
        ("t_s,query\n2,a\n2,a\n", "the time 2 s occurs twice"),
        ("t_s,query\n2,a\n2,\n", "the time 2 s occurs twice"),
        ("t_s,inputs\n1,{\n", "inputs must be JSON, but it is '{'"),
        ("t_s,inputs\n1,[1]\n", "inputs must be a JSON object, but it is"),
        (
            f"t_s,inputs\n1,{quoted(json.dumps({'a': -1}))}\n",
            "a in inputs must be at least 0, but it is -1",
        ),
        (
            f"t_s,inputs\n1,{quoted(json.dumps({'a': 'x'}))}\n",
            "a in inputs must be a number, but it is 'x'",
        ),
        (f"t_s,stages\n1,{quoted('[{}]')}\n", "nested value is invalid"),
        (f"t_s,stages\n1,{quoted(UPSTREAM_TEXT)}\n", "upstream in stages must be a list"),
        (f"t_s,stages\n1,{quoted(CYCLE)}\n", r"row 1 \(line 2\): the stages form a cycle"),
        (
            f"t_s,input_rows_per_s,stages\n1,5,{quoted(TWO_SOURCES)}\n",
            r"row 1 \(line 2\): .*2 source.*no rate for a, b",
        ),
        (
            "timestamp,input_rate,taskmanager\n1,-5,2\n",
            r"row 1 \(line 2\): input_rate must be at least 0, but it is -5",
        ),
        ("timestamp,input_rate,taskmanager,nonsense\n1,5,2,3\n", "unknown column 'nonsense'"),
        ('{"schema": 1, "t_s": 1.0}\n', "line 1: this record of a journal has no 'rescaling'"),
        ('{"schema": 9}\n', "line 1: this is not a journal record"),
    ],
)
def test_bad_input_is_reported_in_one_line_with_row_and_value(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=message) as refused:
        read(tmp_path / "a.csv")
    assert "\n" not in str(refused.value)


def test_a_binary_file_is_rejected(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"t_s\n\xff\xfe\n")
    with pytest.raises(BadInput, match="not UTF-8"):
        read(tmp_path / "a.csv")


def test_a_file_with_only_a_parquet_header_is_rejected(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(BadInput, match="cannot be read as Parquet"):
        read(tmp_path / "a.parquet")


def test_a_folder_without_a_journal_is_rejected(tmp_path):
    with pytest.raises(BadInput, match="there is no journal"):
        read(tmp_path)


@pytest.mark.parametrize(
    "text", ["t_s,busy\n1,1.0\n", "t_s,cpu\n1,1.6\n", "t_s\n-5\n0\n", "t_s,query\n1,a\n1,b\n2,a\n"]
)
def test_unusual_but_valid_input_is_accepted(tmp_path, text):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    assert read(tmp_path / "a.csv")
