from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest

from rheostat.errors import BadInput
from rheostat.spark.session import take

_applications = (f"attachment-{n}" for n in itertools.count())


class Running:
    """A handle that runs until it is stopped, or even longer."""

    def __init__(self, can_scale: bool = True, stubborn: bool = False) -> None:
        self.capabilities = SimpleNamespace(can_scale=can_scale)
        self.journal = Path("journals/one")
        self.running = True
        self.stubborn = stubborn

    def stop(self) -> None:
        self.running = self.stubborn


@pytest.fixture
def application() -> str:
    return next(_applications)


def begun(handle: Running, application: str, **how: bool) -> Running:
    take(application, lambda: handle, **how)  # type: ignore[arg-type,return-value]
    return handle


def never() -> Running:
    raise AssertionError("something was touched")


def test_a_second_one_is_refused_and_touches_nothing(application):
    first = begun(Running(), application)
    with pytest.raises(BadInput, match=r"already sized .* journal journals/one; .*replace=True"):
        take(application, never)  # type: ignore[arg-type]
    assert first.running


def test_a_second_one_may_replace_the_first(application):
    first = begun(Running(), application)
    begun(Running(), application, replaces=True)
    assert not first.running


def test_after_it_was_stopped_the_next_is_welcome(application):
    begun(Running(), application).stop()
    begun(Running(), application)


def test_another_application_has_a_hand_of_its_own(application):
    begun(Running(), application)
    begun(Running(), next(_applications))


def test_one_that_only_advises_is_in_nobodys_way(application):
    begun(Running(can_scale=False), application)
    begun(Running(), application)


def test_one_that_does_not_end_is_not_replaced(application):
    begun(Running(stubborn=True), application)
    with pytest.raises(BadInput, match="does not end within 10 s"):
        take(application, never, replaces=True)  # type: ignore[arg-type]


def test_the_one_around_a_script_gives_way_to_the_scripts_own_and_says_so(application, caplog):
    around = begun(Running(), application, gives_way=True)
    begun(Running(), application)
    assert not around.running
    assert ["the script attaches by itself" in message for message in caplog.messages] == [True]
