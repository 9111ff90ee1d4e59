"""A sweep's specification: policies x parameters x guards x plants x loads x faults x seeds; all
errors are reported with their places.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from rheostat.config import GuardOptions, LoopOptions
from rheostat.errors import BadInput
from rheostat.model import Slo
from rheostat.policies.registry import create
from rheostat_lab.loads.text import parse
from rheostat_lab.loads.trace_file import find_trace
from rheostat_lab.sweep.spec_places import SpecErrors, grid_of, lines_of
from rheostat_lab.sweep.sweep_cell import BOUNDS, KINDS, Cell, Settings, guards_for, plant_values
from rheostat_lab.sweep.sweep_faults import Faults
from rheostat_lab.sweep.sweep_faults import wrong as wrong_faults

_GUARDS = {option.name for group in (LoopOptions, GuardOptions) for option in fields(group)} - {
    "interval_s"
}
_KNOWN = {
    "minutes",
    "interval_s",
    "warm_up_s",
    "slo",
    "limits",
    "rescale_cost",
    "seeds",
    "bounds",
    "plants",
    "loads",
    "policies",
    "guards",
    "faults",
}
# Number of samples of a load to determine whether it has any rows.
_SAMPLES = 400


def read_spec(path: Path) -> tuple[Cell, ...]:
    """Return the cells of a specification; raises BadInput with all errors and their lines."""
    try:
        text = path.read_text(encoding="utf-8")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        read = yaml.safe_load(text)
        lines = dict(lines_of(node, ""))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"the spec {path} cannot be read:"
            f" {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}"
        ) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path.name}:{mark.line + 1}" if mark else path.name
        raise BadInput(
            f"{where}: this is not YAML: {getattr(error, 'problem', None) or error}"
        ) from None
    except ValueError as error:  # well-formed YAML with an invalid date or number
        raise BadInput(f"{path.name}: a value cannot be read: {error}") from None
    except RecursionError:
        raise BadInput(f"{path.name}: an alias refers to the value that it is part of") from None
    return _Reader(SpecErrors(path.name, lines)).cells(read)


class _Reader:
    """Reads a specification and collects its errors."""

    def __init__(self, spec: SpecErrors) -> None:
        self._spec = spec

    def cells(self, read: Any) -> tuple[Cell, ...]:
        if not isinstance(read, dict):
            raise BadInput(
                f"{self._spec.name}: a spec is a mapping with minutes, plants, loads and policies"
            )
        self._spec.unknown(read, _KNOWN, "")
        settings = self._settings(read)
        seeds = self._seeds(read.get("seeds", 1))
        plants = dict(self._plants(read.get("plants"), settings))
        loads = dict(self._loads(read.get("loads"), settings))
        policies = list(self._policies(read.get("policies"), settings))
        guards = list(self._guards(read.get("guards") or {}))
        faults = self._faults(read["faults"], plants, settings) if "faults" in read else {"": {}}
        if not isinstance(read.get("bounds", False), bool):
            self._spec.add("bounds", "is true or false")
        self._spec.raise_errors()
        # For the type checker: ``raise_errors`` has raised if there were errors.
        assert settings is not None  # nothing was wrong  # noqa: S101
        return tuple(
            self._all(
                settings,
                plants,
                loads,
                faults,
                policies,
                guards,
                seeds,
                bounds=read.get("bounds", False),
            )
        )

    def _all(
        self,
        settings: Settings,
        plants: Mapping[str, tuple[str, dict[str, Any]]],
        loads: Mapping[str, str],
        faults: Mapping[str, Faults],
        policies: list[tuple[str, dict[str, Any]]],
        guards: list[dict[str, Any]],
        seeds: list[int],
        *,
        bounds: bool,
    ) -> Iterator[Cell]:
        for (plant, (kind, parameters)), (load, text), seed in itertools.product(
            plants.items(), loads.items(), seeds
        ):
            place: dict[str, Any] = {
                "settings": settings,
                "plant": plant,
                "plant_kind": kind,
                "plant_parameters": parameters,
                "load": load,
                "load_text": text,
                "seed": seed,
            }
            if bounds and kind == "spark":
                yield Cell(policy=BOUNDS, **place)
            for (broken, parts), (policy, given), rules in itertools.product(
                faults.items(), policies, guards
            ):
                yield Cell(
                    policy=policy,
                    parameters=given,
                    guards=rules,
                    faults=broken,
                    fault_parameters=parts,
                    **place,
                )

    def _settings(self, read: Mapping[str, Any]) -> Settings | None:
        given: dict[str, float] = {}
        for name, least in (
            ("minutes", 0.0),
            ("interval_s", 0.0),
            ("warm_up_s", None),
            ("slo", 0.0),
            ("rescale_cost", None),
        ):
            if name in read or name == "minutes":
                number = self._spec.number(name, read.get(name), above=least)
                if number is not None:
                    given[name] = number
        limits = read.get("limits", [1, 16])
        if not (
            isinstance(limits, list)
            and len(limits) == 2
            # The exact type, because True is an instance of int.
            and all(type(limit) is int for limit in limits)
        ):
            self._spec.add(
                "limits", f"are two whole numbers, such as [1, 16], but they are {limits!r}"
            )
            return None
        if "minutes" not in given:
            return None
        slo = Slo(latency_s=given.pop("slo")) if "slo" in given else Slo()
        made = Settings(**given, slo=slo, low=limits[0], high=limits[1])
        self._spec.attempt("limits", lambda: made.limits)
        if made.interval_s > made.seconds or made.warm_up_s >= made.seconds:
            self._spec.add(
                "minutes",
                "must last longer than interval_s and warm_up_s, but a run lasts"
                f" {made.seconds:g} s",
            )
        return made

    def _seeds(self, given: Any) -> list[int]:
        if type(given) is int and given >= 1:
            return list(range(given))
        if (
            isinstance(given, list)
            and given
            and all(type(name) is int for name in given)
            and len(set(given)) == len(given)
        ):
            return given
        self._spec.add(
            "seeds",
            f"is a number of seeds of at least 1, or a list of different ones, but it is {given!r}",
        )
        return []

    def _plants(
        self, given: Any, settings: Settings | None
    ) -> Iterator[tuple[str, tuple[str, dict[str, Any]]]]:
        for name, plant in self._spec.mapping(
            "plants", given, "small: {kind: spark, executors: 4}"
        ):
            place = f"plants.{name}"
            if not isinstance(plant, dict):
                self._spec.add(place, f"is a mapping of parameters, but it is {plant!r}")
                continue
            kind = plant.get("kind", "spark")
            parameters = {key: value for key, value in plant.items() if key != "kind"}
            if kind not in KINDS:
                self._spec.add(place, f"kind must be one of {', '.join(KINDS)}, but it is {kind!r}")
                continue
            self._spec.attempt(place, partial(plant_values, kind, parameters))
            executors = parameters.get("executors")
            if (
                settings
                and isinstance(executors, int)
                and not settings.low <= executors <= settings.high
            ):
                self._spec.add(
                    place,
                    f"starts with {executors} executors, outside the limits {settings.low} to"
                    f" {settings.high}",
                )
            yield name, (kind, parameters)

    def _loads(self, given: Any, settings: Settings | None) -> Iterator[tuple[str, str]]:
        for name, text in self._spec.mapping("loads", given, "day: 5 * day"):
            load = self._spec.attempt(f"loads.{name}", partial(parse, str(text), find_trace))
            if load is not None and settings:
                step_s = settings.seconds / _SAMPLES
                if not any(load.rate_per_s((i + 0.5) * step_s) > 0 for i in range(_SAMPLES)):
                    self._spec.add(
                        f"loads.{name}",
                        f"{text!r} contains no rows in {settings.minutes:g} minutes;"
                        " there is nothing to scale",
                    )
            yield name, str(text)

    def _policies(
        self, given: Any, settings: Settings | None
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        if not (isinstance(given, list) and given):
            self._spec.add(
                "policies", "is a list of one policy at least, such as - measured-throughput"
            )
            return
        known: set[str] = set()
        slo = settings.slo if settings else None
        for number, item in enumerate(given):
            place = f"policies[{number}]"
            entry = {"policy": item} if isinstance(item, str) else item
            if (
                not isinstance(entry, dict)
                or not isinstance(entry.get("policy"), str)
                or not isinstance(entry.get("set", {}), dict)
                # YAML keys may be other types than text, but parameter names are not.
                or not all(isinstance(name, str) for name in entry.get("set", {}))
            ):
                self._spec.add(
                    place, f"is a name, or a mapping with policy and set, but it is {item!r}"
                )
                continue
            self._spec.unknown(entry, {"policy", "set"}, place)
            for parameters in grid_of(entry.get("set", {})):
                label = f"{entry['policy']} {json.dumps(parameters, sort_keys=True, default=str)}"
                if label in known:
                    self._spec.add(place, f"{label} occurs twice")
                known.add(label)
                self._spec.attempt(place, partial(create, entry["policy"], parameters, slo))
                yield entry["policy"], parameters

    def _guards(self, given: Any) -> Iterator[dict[str, Any]]:
        if not isinstance(given, dict):
            self._spec.add(
                "guards", f"is a mapping such as cooldown_in_s: [0, 60], but it is {given!r}"
            )
            return
        self._spec.unknown(given, _GUARDS, "guards")
        # An unknown name has been reported already, and trying it would report it again.
        if set(given) <= _GUARDS:
            for rules in grid_of(given):
                self._spec.attempt("guards", partial(guards_for, Settings(minutes=1), rules))
                yield rules

    def _faults(
        self,
        given: Any,
        plants: Mapping[str, tuple[str, dict[str, Any]]],
        settings: Settings | None,
    ) -> dict[str, Faults]:
        valid: dict[str, Faults] = {}
        kinds = {plant: kind for plant, (kind, _) in plants.items()}
        for name, parameters in self._spec.mapping(
            "faults", given, "loss: {executor_loss: {mean_s: 1800}}"
        ):
            for place, message in wrong_faults(
                parameters, kinds, settings.seconds if settings else math.inf
            ):
                self._spec.add(f"faults.{name}{place}", message)
            valid[name] = parameters
        return valid
