"""The permitted changes of an application's size, and requests without effect."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rheostat.config import StateOptions
from rheostat.settings import settings_of
from rheostat.spark.internals.internals import Internals
from rheostat.spark.scaling_capabilities import ScalingCapabilities, scaling_capabilities
from rheostat.spark.sensing.capabilities import Obstacles


@dataclass
class Conf:
    values: dict[str, str] = field(default_factory=dict)

    def get(self, name: str, default: str) -> str:
        return self.values.get(name, default)


@dataclass
class Session:
    version: str = "4.0.0"
    conf: Conf = field(default_factory=Conf)
    sparkContext: Any = field(default_factory=lambda: SimpleNamespace(uiWebUrl="http://h"))  # noqa: N815


@dataclass
class Coordinator:
    missing: str | None = None

    def cannot_place(self) -> str | None:
        return self.missing


@dataclass
class Executors:
    there: int = 2
    can_decommission: bool = True

    def registered(self) -> int:
        return self.there


@dataclass
class Parts:
    coordinator: Coordinator = field(default_factory=Coordinator)
    executors: Executors = field(default_factory=Executors)
    status: Any = field(default_factory=lambda: SimpleNamespace(answers=True))


def capabilities(
    state: StateOptions,
    parts: Parts | None = None,
    found: Obstacles | None = None,
    session: Session | None = None,
) -> ScalingCapabilities:
    settings = settings_of(
        limits=(1, 4), placement=state.placement, standby=state.standby, shares=state.shares
    )
    given = cast("Internals", parts or Parts())
    return scaling_capabilities(
        cast("Any", session or Session()), settings, given, found or Obstacles()
    )


def test_what_degrades_is_passed_on() -> None:
    found = Obstacles(degrading=("no decommissioning",), can_decommission=True)
    told = capabilities(StateOptions(placement="off"), found=found)
    assert told.cannot == ("no decommissioning",)
    assert told.graceful


@pytest.mark.parametrize("answers", [True, False])
def test_a_ui_that_is_off_matters_only_where_the_driver_is_not_asked_directly(
    answers: bool,
) -> None:
    off = Session(sparkContext=SimpleNamespace(uiWebUrl=None))
    parts = Parts(status=SimpleNamespace(answers=answers))
    told = capabilities(StateOptions(placement="off"), parts, session=off).cannot
    assert any(line.startswith("spark.ui.enabled is off") for line in told) is not answers


@pytest.mark.parametrize(("spark_can", "session_allows"), [(False, True), (True, False)])
def test_leaving_is_graceful_only_where_spark_can_and_the_session_allows_it(
    spark_can: bool, session_allows: bool
) -> None:
    parts = Parts(executors=Executors(can_decommission=spark_can))
    found = Obstacles(can_decommission=session_allows)
    assert not capabilities(StateOptions(placement="off"), parts, found).graceful


def test_placement_that_is_forced_and_missing_is_said_and_so_is_standby_in_vain() -> None:
    parts = Parts(coordinator=Coordinator("this Spark has no such call"))
    told = capabilities(StateOptions(placement="force", standby=2), parts)
    assert not told.placement.places
    assert told.standby == 0
    assert "state stays where Spark has put it: this Spark has no such call" in told.cannot
    assert any("no standby executors" in line for line in told.cannot)


def test_placement_that_is_off_is_no_complaint() -> None:
    assert capabilities(StateOptions(placement="off")).cannot == ()


def test_standby_is_kept_where_state_is_placed() -> None:
    told = capabilities(StateOptions(placement="force", standby=2))
    assert told.placement.places
    assert told.standby == 2


def test_more_executors_than_the_ceiling_are_said() -> None:
    told = capabilities(StateOptions(placement="off"), Parts(executors=Executors(there=9)))
    assert len(told.cannot) == 1
    assert "9" in told.cannot[0]
