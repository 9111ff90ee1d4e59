import pytest

from rheostat.replay.replayer import refusal


def test_a_rejection_in_a_task_is_extracted_from_its_traceback():
    trace = (
        "Traceback:\n  File x\nrheostat.errors.BadInput: row 7: lag_rows must be at least 0, but it"
        " is -1\n\n\tat java"
    )
    assert refusal(RuntimeError(trace)) == "row 7: lag_rows must be at least 0, but it is -1"


@pytest.mark.parametrize("text", ["", "ValueError: rheostat", "BadInput"])
def test_another_failure_is_not_a_rejection(text):
    assert refusal(RuntimeError(text)) is None
