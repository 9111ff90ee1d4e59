from __future__ import annotations

import pytest

from rheostat.errors import BadInput
from rheostat.spark.fleet.intake import PushedRecord, from_json_lines, from_tab_lines

TWO = [PushedRecord("a-1", "x"), PushedRecord("a-2", "y\t")]


def test_every_json_line_is_a_record():
    body = b'{"id": "a-1", "value": "x"}\n\n{"id": "a-2", "value": "y\\t"}\n'
    assert from_json_lines(body) == TWO


def test_every_socket_line_is_an_id_a_tab_and_a_value():
    assert from_tab_lines([b"a-1\tx\r\n", b"a-2\ty\t"]) == TWO


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"id": "a", "value": "x"}\nno json', "line 2 is not JSON"),
        (b"[1]", "line 1 is not an object"),
        (b'{"value": "x"}', "line 1 has no id: without one a record that is sent again cannot"),
        (b'{"id": "", "value": "x"}', "line 1 has no id"),
        (b'{"id": 7, "value": "x"}', "line 1 has no id"),
        (b'{"id": "a"}', "the value of line 1 must be a text, but it is None"),
        (b'{"id": "' + b"a" * 257 + b'", "value": ""}', "longer than 256 bytes"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_invalid_records_are_rejected_with_their_line_number(body, message):
    with pytest.raises(BadInput, match=message):
        from_json_lines(body)


def test_a_line_without_a_tab_is_rejected():
    with pytest.raises(BadInput, match="line 1 must be id, a tab and the value"):
        from_tab_lines([b"a-1 x"])
