"""Detects the managed platform of a session and reports what matters on it.

Sources: ``docs/deploy/platforms.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rheostat.model import Finding

_PAGE = "docs/deploy/platforms.md"


@dataclass(frozen=True, slots=True)
class _Platform:
    name: str
    variables: tuple[str, ...]
    """Environment variables that its drivers have."""

    prefixes: tuple[str, ...]
    """Prefixes of setting names that its sessions have."""

    conflict: str
    """The platform's feature that conflicts with Rheostat."""

    setting: str | None = None


_DYNAMIC = "spark.dynamicAllocation.enabled"
_OFF = f"{_DYNAMIC}=false"
_PLATFORMS = (
    _Platform(
        "Databricks",
        ("DATABRICKS_RUNTIME_VERSION",),
        ("spark.databricks.clusterUsageTags.",),
        "cluster autoscaling removes workers by their idle time; give the cluster a fixed number of"
        " workers",
    ),
    _Platform(
        "Synapse or Fabric",
        ("AZURE_SERVICE",),
        ("spark.synapse.",),
        "pools can allocate executors dynamically (Fabric's starter pools do by default); switch it"
        " off for this job",
        _OFF,
    ),
    _Platform(
        "Dataproc",
        (),
        ("spark.dataproc.",),
        "an autoscaling policy does not support Structured Streaming; give the cluster none",
        _OFF,
    ),
    _Platform(
        "EMR",
        (),
        ("spark.emr.",),
        "dynamic allocation is on by default, and managed scaling sets the number of nodes by its"
        " own metrics",
        _OFF,
    ),
    _Platform(
        "Glue",
        ("GLUE_VERSION",),
        ("spark.glue.",),
        "auto scaling removes idle workers; switch it off for this job",
    ),
)


def platform_findings(
    settings: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Return two findings on the platform of a session: whether Rheostat was tested on it, and what
    conflicts; empty on other platforms.
    """
    for platform in _PLATFORMS:
        named = any(variable in environment for variable in platform.variables)
        if not named and not any(name.startswith(platform.prefixes) for name in settings):
            continue
        tried = f"Rheostat was not tried on it; begin in shadow mode ({_PAGE})"
        is_off = settings.get(_DYNAMIC, "").lower() == "false"
        setting = None if is_off else platform.setting
        return (
            Finding(topic=platform.name, state="idle", line=tried),
            Finding(topic=platform.name, state="advice", line=platform.conflict, setting=setting),
        )
    return ()
