"""The permitted changes of an application's size, and requests without effect."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rheostat.config import StateOptions
from rheostat.settings import settings_of
from rheostat.spark.assembly import scaling_capabilities
from rheostat.spark.internals.internals import Internals
from rheostat.spark.resizing.actuator import ScalingCapabilities
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
    count: int = 2

    def registered(self) -> int:
        return self.count


@dataclass
class Parts:
    coordinator: Coordinator = field(default_factory=Coordinator)
    executors: Executors = field(default_factory=Executors)
    status: Any = field(default_factory=lambda: SimpleNamespace(answers=True))


def capabilities(
    state: StateOptions,
    parts: Parts | None = None,
    obstacles: Obstacles | None = None,
    session: Session | None = None,
) -> ScalingCapabilities:
    settings = settings_of(
        limits=(1, 4), placement=state.placement, standby=state.standby, shares=state.shares
    )
    given = cast("Internals", parts or Parts())
    return scaling_capabilities(
        cast("Any", session or Session()), settings, given, obstacles or Obstacles()
    )


def test_degrading_obstacles_are_reported() -> None:
    obstacles = Obstacles(degrading=("no decommissioning",))
    result = capabilities(StateOptions(placement="off"), obstacles=obstacles)
    assert result.cannot == ("no decommissioning",)


@pytest.mark.parametrize("answers", [True, False])
def test_a_disabled_ui_matters_only_without_direct_driver_access(
    answers: bool,
) -> None:
    off = Session(sparkContext=SimpleNamespace(uiWebUrl=None))
    parts = Parts(status=SimpleNamespace(answers=answers))
    result = capabilities(StateOptions(placement="off"), parts, session=off).cannot
    assert any(line.startswith("spark.ui.enabled is off") for line in result) is not answers


def test_forced_placement_and_standby_without_support_are_reported() -> None:
    parts = Parts(coordinator=Coordinator("this Spark has no such call"))
    result = capabilities(StateOptions(placement="force", standby=2), parts)
    assert not result.placement.places
    assert result.standby == 0
    assert "state stays where Spark has put it: this Spark has no such call" in result.cannot
    assert any("no standby executors" in line for line in result.cannot)


def test_disabled_placement_is_not_reported() -> None:
    assert capabilities(StateOptions(placement="off")).cannot == ()


def test_standby_is_kept_where_state_is_placed() -> None:
    result = capabilities(StateOptions(placement="force", standby=2))
    assert result.placement.places
    assert result.standby == 2


def test_more_executors_than_the_ceiling_are_reported() -> None:
    result = capabilities(StateOptions(placement="off"), Parts(executors=Executors(count=9)))
    assert len(result.cannot) == 1
    assert "9" in result.cannot[0]


@pytest.mark.parametrize(("mode", "lines"), [("FIFO", 1), ("fair", 0)])
def test_a_priority_without_the_fair_scheduler_is_reported(mode: str, lines: int) -> None:
    session = Session()
    session.sparkContext.getConf = lambda: Conf({"spark.scheduler.mode": mode})
    settings = settings_of(limits=(1, 4), placement="off", priority={"orders": 2})
    found = scaling_capabilities(
        cast("Any", session), settings, cast("Internals", Parts()), Obstacles()
    )
    assert sum("whose tasks run first" in line for line in found.cannot) == lines
