"""Determines what may be done to an application's size, before anything is changed."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from rheostat.settings import Settings
from rheostat.spark.announcement import beyond_ceiling
from rheostat.spark.internals.coordinator import Coordinator
from rheostat.spark.internals.internals import Internals
from rheostat.spark.resizing.placement_soaks import Verdict, verdict
from rheostat.spark.sensing.capabilities import Obstacles
from rheostat.spark.sensing.query_shape import PROVIDER

_log = logging.getLogger("rheostat")
_DEFAULT_PROVIDER = "HDFSBackedStateStoreProvider"
_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingCapabilities:
    """What may be done to the size of an application, and what may not, one line each."""

    graceful: bool
    placement: Verdict
    standby: int
    cannot: tuple[str, ...]


def scaling_capabilities(
    spark: Any, settings: Settings, internals: Internals, limitations: Obstacles
) -> ScalingCapabilities:
    """Return what this session allows, and which requested features are unavailable."""
    state = settings.state
    placement = placement_verdict(spark, internals.coordinator, state.placement)
    cannot = [*limitations.degrading]
    if spark.sparkContext.uiWebUrl is None and not internals.status.answers:
        cannot.append(
            "spark.ui.enabled is off: executors are counted, but their load is not observable"
        )
    if not placement.places and state.placement != "off":
        cannot.append(placement.why)
    else:
        _log.info("rheostat: %s", placement.why)
    too_many = beyond_ceiling(settings, internals.executors.registered())
    if too_many:
        cannot.append(too_many)
    if state.standby and not placement.places:
        cannot.append("no standby executors: they have no benefit where state is not placed")
    return ScalingCapabilities(
        graceful=internals.executors.can_decommission and limitations.can_decommission,
        placement=placement,
        standby=state.standby if placement.places else 0,
        cannot=tuple(cannot),
    )


def placement_verdict(spark: Any, coordinator: Coordinator, mode: str) -> Verdict:
    """Return whether state is placed in this session (``auto``, ``force`` or ``off``), and why."""
    provider = str(spark.conf.get(PROVIDER, _DEFAULT_PROVIDER)).rpartition(".")[2]
    placement = verdict(mode, spark.version, provider, int(spark.conf.get(_FORMAT, "1")))
    missing = coordinator.cannot_place() if placement.places else None
    if missing:
        return Verdict(False, f"state stays where Spark has put it: {missing}")
    return placement
