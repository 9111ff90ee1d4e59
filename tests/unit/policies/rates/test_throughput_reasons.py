from __future__ import annotations

import pytest

from rheostat.policies.rates.measured_throughput import difference_text, need_text


def test_the_required_size_precedes_its_reason() -> None:
    assert (
        need_text(9, 1399, 155) == "9 executors needed for 1,399 rows/s at 155 rows/s an executor"
    )
    assert need_text(1, 120, 155).startswith("1 executor needed for 120 rows/s")
    assert need_text(1, 120, None) == "120 rows/s, and no throughput was measured yet"


@pytest.mark.parametrize(
    ("size", "executors", "target", "lagging", "expected"),
    [
        (6, 9, 9, True, ""),
        (8, 9, 8, False, "; no executor is added without lag"),
        (8, 5, 9, True, "; one executor is added, because the lag rises nevertheless"),
        (8, 5, 8, True, "; no executor leaves while there is lag"),
        (2, 9, 4, False, "; 4 executors at most before a throughput was measured"),
        (3, 4, 2, False, ""),
    ],
)
def test_a_target_that_differs_from_the_required_size_is_explained(
    size: int, executors: int, target: int, lagging: bool, expected: str
) -> None:
    assert difference_text(size, executors, target, lagging) == expected
