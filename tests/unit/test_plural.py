from __future__ import annotations

import pytest

from rheostat.plural import counted


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "0 slots"), (1, "1 slot"), (2, "2 slots"), (1399, "1,399 slots")]
)
def test_a_number_agrees_with_its_noun(number: int, expected: str) -> None:
    assert counted(number, "slot") == expected
