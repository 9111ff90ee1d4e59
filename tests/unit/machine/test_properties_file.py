"""Properties files, compatible with ``java.util.Properties``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.machine.properties_file import properties


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spark.master  spark://a:1", [("spark.master", "spark://a:1")]),
        ("spark.master=yarn", [("spark.master", "yarn")]),
        ("a : b", [("a", "b")]),
        ("a=b=c d ", [("a", "b=c d")]),
        ("# a=b\n  ! c=d\n\n e = f", [("e", "f")]),
        ("alone", [("alone", None)]),
        ("empty=", [("empty", "")]),
        ("long=a,\\\n   b,\\\n   c", [("long", "a,b,c")]),
        ("path=C:\\\\dir", [("path", "C:\\dir")]),
        ("a\\ b=c\\u0041\\t", [("a b", "cA\t")]),
        ("ends=here\\", [("ends", "here")]),
        ("a=1\na=2", [("a", "1"), ("a", "2")]),
    ],
)
def test_files_are_parsed_as_java_does(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert [(entry.name, entry.value) for entry in properties(text)] == expected


def test_a_property_records_its_first_line() -> None:
    text = "# one\na=1,\\\n  2\n\nb=3\n"
    assert [(entry.name, entry.line) for entry in properties(text)] == [("a", 2), ("b", 5)]


_WORDS = st.text("abcxyz.\\_=:# ", min_size=1, max_size=12).map(str.strip).filter(bool)


@given(st.dictionaries(_WORDS, _WORDS, max_size=5))
def test_escaped_text_is_read_back(pairs: dict[str, str]) -> None:
    text = "".join(f"{_escaped(name)}={_escaped(value)}\n" for name, value in pairs.items())
    assert {entry.name: entry.value for entry in properties(text)} == pairs


def _escaped(text: str) -> str:
    return "".join(f"\\{character}" if character in "\\=:# " else character for character in text)
