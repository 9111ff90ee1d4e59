from __future__ import annotations

from typing import Any

import pytest

from rheostat.errors import BadInput
from rheostat.model import Decision, Observation
from rheostat.policies.checked import Checked
from rheostat.policies.rules.fixed import Fixed

OBSERVATION = Observation(t_s=12.5, executors=3)


class FixedResult:
    def __init__(self, result: Any) -> None:
        self.result = result

    def decide(self, observation: Observation, memory: Any) -> Any:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
        (KeyError("a\nb"), "KeyError: 'a\\nb'"),
        (RuntimeError(), "RuntimeError: no message"),
        (RuntimeError("two\nlines"), "RuntimeError: two lines"),
        (5, "it returned 5"),
        (None, "it returned None"),
        ((3, {}), "it returned 3 for the Decision"),
        ((Decision(target=2, reason="r"), None), "it returned None for what it remembers"),
        ((Decision(target=2.5, reason="r"), {}), "it returned 2.5 executors, which is no whole"),  # type: ignore[arg-type]
    ],
)
def test_a_policy_failure_is_one_line_with_its_name_and_time(result: Any, message: str) -> None:
    with pytest.raises(BadInput) as raised:
        Checked(FixedResult(result), "mine:P").decide(OBSERVATION, {})
    assert message in str(raised.value)
    assert "policy mine:P" in str(raised.value)
    assert "12.5 s" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_valid_decision_is_passed_through() -> None:
    assert Checked(Fixed(), "fixed").decide(OBSERVATION, {}) == Fixed().decide(OBSERVATION, {})


def test_a_policys_bad_input_is_passed_through() -> None:
    with pytest.raises(BadInput, match=r"^no graph$"):
        Checked(FixedResult(BadInput("no graph")), "mine:P").decide(OBSERVATION, {})
