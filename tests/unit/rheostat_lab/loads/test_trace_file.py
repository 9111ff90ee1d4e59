from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat_lab.loads.trace import Trace
from rheostat_lab.loads.trace_file import find_trace, packaged_traces, read_trace


def _file(folder: Path, text: str) -> Path:
    file = folder / "load.csv"
    file.write_text(text)
    return file


def test_both_headers_are_read(tmp_path: Path) -> None:
    assert read_trace(_file(tmp_path, "second|adCount\n0|0\n1|15\n2|20\n")) == Trace(
        (0, 1, 2), (0, 15, 20)
    )
    assert read_trace(
        _file(tmp_path, "t_s,rate\n10,1.5\n20,2\n"), time_scale=2, rate_scale=3
    ) == Trace((10, 20), (1.5, 2), 2, 3)


def test_a_byte_order_mark_quotes_and_empty_lines_are_ignored(tmp_path: Path) -> None:
    text = '\ufefft_s,rate\r\n"0","1.5"\r\n\r\n1,2\r\n'
    assert read_trace(_file(tmp_path, text)) == Trace((0, 1), (1.5, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "load.csv:1: the header must be second|adCount or t_s,rate, but it is ''"),
        (
            "time;rate\n",
            "load.csv:1: the header must be second|adCount or t_s,rate, but it is 'time;rate'",
        ),
        ("t_s,rate\n0,1\n", "load.csv: a trace needs two samples or more, but has 1"),
        (
            "t_s,rate\n0,1\n1,x\n",
            "load.csv:3: a sample is a time and a rate, two numbers, but the line holds ['1', 'x']",
        ),
        (
            "t_s,rate\n0,1\n1\n",
            "load.csv:3: a sample is a time and a rate, two numbers, but the line holds ['1']",
        ),
        (
            "t_s,rate\n0,1\n1,-5\n",
            (
                "load.csv:3: a rate must be a number of at least 0 at a finite time, but the line"
                " holds ['1', '-5']"
            ),
        ),
        (
            't_s,rate\n0,1\n"1,2\n2,3\n3,4\n',
            "load.csv:3: a sample is a time and a rate, two numbers, but the line holds ['1,2']",
        ),
        ("t_s,rate\n0,1\n2,1\n1,1\n3,1\n", "load.csv:4: times must rise, but 1 comes after 2"),
        (
            "t_s,rate\n0,1\n1,1\n2,1\n9,1\n",
            "load.csv:5: a gap from 2 to 9 s among samples 1 s apart; fill it or cut there",
        ),
    ],
)
def test_an_invalid_trace_is_rejected_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(BadInput) as error:
        read_trace(_file(tmp_path, text))
    assert str(error.value).endswith(message)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read: No such file or directory"):
        read_trace(tmp_path / "none.csv")


def test_the_packaged_trace_covers_six_hours_without_a_gap() -> None:
    (name,) = packaged_traces()
    trace = find_trace(name)
    assert len(trace.rates) == pytest.approx(6 * 3600, abs=2)
    assert max(trace.rates) == pytest.approx(550_000, rel=0.01)


def test_an_unknown_trace_lists_the_packaged_ones() -> None:
    with pytest.raises(
        BadInput,
        match="there is no recorded load mine; it is a file, or one of advertising_6h_550K_max",
    ):
        find_trace("mine")
