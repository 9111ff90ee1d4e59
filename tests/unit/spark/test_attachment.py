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


def begin(handle: Running, application: str, **options: bool) -> Running:
    take(application, lambda: handle, **options)  # type: ignore[arg-type,return-value]
    return handle


def never() -> Running:
    raise AssertionError("something was touched")


def test_a_second_autoscaler_is_rejected_and_changes_nothing(application):
    first = begin(Running(), application)
    with pytest.raises(BadInput, match=r"already sized .* journal journals/one; .*replace=True"):
        take(application, never)  # type: ignore[arg-type]
    assert first.running


def test_a_second_autoscaler_can_replace_the_first(application):
    first = begin(Running(), application)
    begin(Running(), application, replaces=True)
    assert not first.running


def test_a_stopped_autoscaler_allows_another(application):
    begin(Running(), application).stop()
    begin(Running(), application)


def test_every_application_has_its_own_autoscaler(application):
    begin(Running(), application)
    begin(Running(), next(_applications))


def test_an_advising_autoscaler_does_not_block_another(application):
    begin(Running(can_scale=False), application)
    begin(Running(), application)


def test_an_autoscaler_that_does_not_end_is_not_replaced(application):
    begin(Running(stubborn=True), application)
    with pytest.raises(BadInput, match="does not end within 10 s"):
        take(application, never, replaces=True)  # type: ignore[arg-type]


def test_the_wrapping_autoscaler_yields_to_the_scripts_own_and_logs_it(application, caplog):
    wrapping = begin(Running(), application, gives_way=True)
    begin(Running(), application)
    assert not wrapping.running
    (message,) = caplog.messages
    assert "the script attaches an autoscaler itself" in message
