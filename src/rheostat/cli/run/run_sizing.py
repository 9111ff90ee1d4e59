"""How ``rheostat run`` sizes an application: its command line over ``spark.rheostat.*`` over the
defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from rheostat.cli.options.name_value_pairs import pairs
from rheostat.cli.options.policy_choice import beside
from rheostat.cli.run.run_options import Place, Sizing
from rheostat.config import AgentOptions, GuardOptions, JournalOptions, LoopOptions, StateOptions
from rheostat.kafka.client import client_config
from rheostat.model import Limits
from rheostat.spark.settings.conf_settings import PREFIX, arguments_of, over
from rheostat.spark.settings.sizing_settings import Settings, settings_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A command line of ``rheostat run``; ``explicit`` are the names of the options that
    are given on it; all others have their defaults.
    """

    script: Path
    sizing: Sizing
    place: Place
    loop: LoopOptions
    state: StateOptions
    guards: GuardOptions
    retention: JournalOptions
    agent: AgentOptions
    explicit: frozenset[str]

    def settings(self, conf: Mapping[str, str]) -> Settings:
        """Return how to size an application with this Spark configuration.

        Raises BadInput for unusable values in the configuration or on the command line.
        """
        of_conf = (
            self.sizing.policy if "policy" in self.explicit else conf.get(f"{PREFIX}policy", "")
        )
        beside(of_conf, self.script.parent, self.script)
        named = arguments_of(conf)
        return settings_of(**over(named, self._own(named)))

    def _own(self, named: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments that the command line sets; within a group of options, options
        that are not given keep their values.
        """
        sizing, place = self.sizing, self.place
        own: dict[str, Any] = {"limits": self._limits(named.get("limits"))}
        if "policy" in self.explicit or "parameters" not in named:
            own["parameters"] = pairs(sizing.parameters or ())
        elif sizing.parameters:
            own["parameters"] = {**named["parameters"], **pairs(sizing.parameters)}
        own |= {name: getattr(sizing, name) for name in {"policy", "slo", "price"} & self.explicit}
        own |= {"journal": place.journal} if place.journal else {}
        own |= {"kafka": client_config(place.kafka)} if place.kafka else {}
        for name in ("loop", "guards", "retention"):
            own |= _changed(name, getattr(self, name), named, self.explicit)
        for group in (self.state, self.agent):
            own |= {name: getattr(group, name) for name in _names(group) & self.explicit}
        return own

    def _limits(self, named: tuple[int, int] | None) -> tuple[int, int]:
        ceiling = self.place.ceiling(self.sizing.maximum)
        usual = Limits().min_executors
        low, high = named or (usual, ceiling)
        if self.sizing.maximum is not None or self.place.local:
            high = ceiling
        return (self.sizing.minimum if "minimum" in self.explicit else low), high


def _changed(
    name: str, group: Any, named: Mapping[str, Any], explicit: frozenset[str]
) -> dict[str, Any]:
    own = {option: getattr(group, option) for option in _names(group) & explicit}
    return {name: replace(named.get(name, type(group)()), **own)} if own else {}


def _names(group: Any) -> set[str]:
    return {option.name for option in fields(group)}
