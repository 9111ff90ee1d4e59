from __future__ import annotations

from typing import Any

import pytest

from rheostat.errors import BadInput
from rheostat.model import Decision, Observation
from rheostat.policies.checked import Checked
from rheostat.policies.rules.fixed import Fixed

SEEN = Observation(t_s=12.5, executors=3)


class Answers:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def decide(self, observation: Observation, memory: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "said"),
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
def test_a_fault_of_a_policy_is_one_line_with_its_name_and_time(answer: Any, said: str) -> None:
    with pytest.raises(BadInput) as raised:
        Checked(Answers(answer), "mine:P").decide(SEEN, {})
    assert said in str(raised.value)
    assert "policy mine:P" in str(raised.value)
    assert "12.5 s" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_answer_is_handed_on() -> None:
    assert Checked(Fixed(), "fixed").decide(SEEN, {}) == Fixed().decide(SEEN, {})


def test_what_a_policy_refuses_itself_is_left_as_it_is() -> None:
    with pytest.raises(BadInput, match=r"^no graph$"):
        Checked(Answers(BadInput("no graph")), "mine:P").decide(SEEN, {})
