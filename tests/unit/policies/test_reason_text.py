from __future__ import annotations

import pytest

from rheostat.policies.reason_text import counted, needed, settled


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 slots"), (1, "1 slot"), (2, "2 slots"), (1399, "1,399 slots")]
)
def test_a_number_has_its_noun(number: int, said: str) -> None:
    assert counted(number, "slot") == said


def test_what_is_needed_comes_before_why() -> None:
    assert needed(9, 1399, 155) == "9 executors needed for 1,399 rows/s at 155 rows/s an executor"
    assert needed(1, 120, 155).startswith("1 executor needed for 120 rows/s")
    assert needed(1, 120, None) == "120 rows/s, and no throughput was measured yet"


@pytest.mark.parametrize(
    ("size", "executors", "target", "lagging", "said"),
    [
        (6, 9, 9, True, ""),
        (8, 9, 8, False, "; none is added without lag"),
        (8, 5, 9, True, "; one more than there are, because lag rises all the same"),
        (8, 5, 8, True, "; none leaves while there is lag"),
        (2, 9, 4, False, "; 4 executors at most before a throughput was measured"),
        (3, 4, 2, False, ""),
    ],
)
def test_what_is_wanted_is_explained_where_it_is_not_what_is_needed(
    size: int, executors: int, target: int, lagging: bool, said: str
) -> None:
    assert settled(size, executors, target, lagging) == said
