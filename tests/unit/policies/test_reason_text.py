from __future__ import annotations

import pytest

from rheostat.plural import counted
from rheostat.policies.reason_text import needed, settled


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "0 slots"), (1, "1 slot"), (2, "2 slots"), (1399, "1,399 slots")]
)
def test_a_number_agrees_with_its_noun(number: int, expected: str) -> None:
    assert counted(number, "slot") == expected


def test_the_required_size_precedes_its_reason() -> None:
    assert needed(9, 1399, 155) == "9 executors needed for 1,399 rows/s at 155 rows/s an executor"
    assert needed(1, 120, 155).startswith("1 executor needed for 120 rows/s")
    assert needed(1, 120, None) == "120 rows/s, and no throughput was measured yet"


@pytest.mark.parametrize(
    ("size", "executors", "target", "lagging", "expected"),
    [
        (6, 9, 9, True, ""),
        (8, 9, 8, False, "; none is added without lag"),
        (8, 5, 9, True, "; one more than there are, because lag rises all the same"),
        (8, 5, 8, True, "; none leaves while there is lag"),
        (2, 9, 4, False, "; 4 executors at most before a throughput was measured"),
        (3, 4, 2, False, ""),
    ],
)
def test_a_target_that_differs_from_the_required_size_is_explained(
    size: int, executors: int, target: int, lagging: bool, expected: str
) -> None:
    assert settled(size, executors, target, lagging) == expected
