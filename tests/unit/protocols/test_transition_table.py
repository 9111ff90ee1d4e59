"""The engine takes the first row whose event holds, and rejects an unsound table."""

from enum import Enum

import pytest

from rheostat.errors import BadInput
from rheostat.protocols.transition_table import Row, Table, first_row


class Command(Enum):
    HIDE = "take it out of the preferred locations"


def go(facts: set[str]) -> bool:
    """It may go."""
    return "go" in facts


def stay(facts: set[str]) -> bool:
    """It has to
    stay.
    """
    return "stay" in facts


def table(*rows: Row[[set[str]], Command]) -> Table[[set[str]], Command]:
    return Table(start="a", end="z", rows=rows)


def test_a_duplicate_event_in_a_phase_is_rejected():
    with pytest.raises(BadInput, match="the event 'go' occurs twice in phase 'a'"):
        table(Row("a", go, "b"), Row("a", go, "z"), Row("b", go, "z"))


def test_an_unreachable_phase_is_rejected():
    with pytest.raises(BadInput, match="the phase 'c' is unreachable from 'a'"):
        table(Row("a", go, "z"), Row("c", go, "z"))


def test_a_phase_without_a_path_to_the_end_is_rejected():
    with pytest.raises(BadInput, match="no path leads from the phase 'b' to 'z'"):
        table(Row("a", go, "z"), Row("a", stay, "b"))


def test_a_row_that_leaves_the_end_is_rejected():
    with pytest.raises(BadInput, match="'z' must be final, but 'go' leaves it"):
        table(Row("a", go, "z"), Row("z", go, "a"))


ONE = table(
    Row("a", stay, "b", Command.HIDE), Row("a", go, "z"), Row("b", stay, "z"), Row("b", go, "z")
)


def test_the_first_row_whose_event_holds_is_taken():
    assert [ONE.step("a", facts) for facts in ({"go", "stay"}, {"go"}, set())] == [
        ONE.rows[0],
        ONE.rows[1],
        None,
    ]
    assert ONE.phases == ("a", "b", "z")


def test_a_pass_considers_only_rows_of_its_events():
    assert first_row(ONE.with_events(go), "a", {"go", "stay"}) == ONE.rows[1]
    assert first_row(ONE.with_events(go), "a", {"stay"}) is None
