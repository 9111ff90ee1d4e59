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
def test_it_reads_what_java_reads(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert [(each.name, each.value) for each in properties(text)] == expected


def test_a_property_knows_the_line_where_it_begins() -> None:
    text = "# one\na=1,\\\n  2\n\nb=3\n"
    assert [(each.name, each.line) for each in properties(text)] == [("a", 2), ("b", 5)]


_WORDS = st.text("abcxyz.\\_=:# ", min_size=1, max_size=12).map(str.strip).filter(bool)


@given(st.dictionaries(_WORDS, _WORDS, max_size=5))
def test_what_is_written_with_escapes_is_read_again(pairs: dict[str, str]) -> None:
    text = "".join(f"{_escaped(name)}={_escaped(value)}\n" for name, value in pairs.items())
    assert {each.name: each.value for each in properties(text)} == pairs


def _escaped(text: str) -> str:
    return "".join(f"\\{each}" if each in "\\=:# " else each for each in text)
