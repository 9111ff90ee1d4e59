"""Parses a workload from one line of text: kinds with parameters, sums and multiples."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from rheostat.errors import BadInput
from rheostat.sim.workload import Workload
from rheostat_lab.loads.registry import create
from rheostat_lab.loads.scaled import Scaled
from rheostat_lab.loads.sum import Sum
from rheostat_lab.loads.trace import Trace

Reader = Callable[[str], Trace]
"""Reads a trace from a file, or by its name."""


def parse(text: str, read: Reader | None = None) -> Workload:
    """Return the workload of a text such as ``cosine:shift=900,noise=50 + 0.5 * bursts:burst=800``.

    A part is a kind of workload, then a colon and its parameters, separated by commas (a value may
    be a list: ``steps:levels=500,2000,hold_s=60``); a number and ``*`` before it multiply its
    rates. ``read`` reads ``trace:file=FILE``. Raises BadInput for an invalid text, naming the part.
    """
    # With spaces, because a + within a value, as in 1e+3, is not a sum.
    parts = tuple(_part(part.strip(), read) for part in text.split(" + "))
    return parts[0] if len(parts) == 1 else Sum(parts)


def _part(text: str, read: Reader | None) -> Workload:
    factor, times, rest = text.partition(" * ")
    if times:
        try:
            return Scaled(_part(rest.strip(), read), factor=float(factor))
        except ValueError:
            raise BadInput(
                f"before * there is a number, such as 0.5 * day, but here it is {factor!r}"
            ) from None
    name, _, settings = text.partition(":")
    given = _settings(settings, text)
    # The file is not a parameter of a trace, which has only samples.
    file = given.pop("file", None) if name == "trace" else None
    if file is None:
        return create(name.strip(), given)
    if read is None:
        raise BadInput(f"a recorded load cannot be read here, but {text!r} asks for one")
    trace = read(file)
    return create("trace", {"times_s": trace.times_s, "rates": trace.rates, **given})


def _settings(text: str, full_text: str) -> dict[str, str]:
    """Return the parameters of a part; a piece without ``=`` belongs to the preceding list."""
    given: dict[str, str] = {}
    name = ""
    for piece in filter(None, text.split(",")):
        key, equals, value = piece.partition("=")
        if equals:
            name = key.strip()
            if name in given:
                raise BadInput(f"{name} occurs twice in {full_text!r}")
        elif not name:
            raise BadInput(
                f"parameters are written name=value with commas between, but {full_text!r} has"
                f" {piece!r}"
            )
        given[name] = value.strip() if equals else f"{given[name]},{piece.strip()}"
    return given


def with_seed(load: Workload, seed: int) -> Workload:
    """Return the load with another seed in all its random parts; a deterministic load is unchanged.

    The parts of a sum keep different seeds, because the seed is added to theirs.
    """
    if isinstance(load, Sum):
        return Sum(tuple(with_seed(part, seed) for part in load.parts))
    if isinstance(load, Scaled):
        return dataclasses.replace(load, load=with_seed(load.load, seed))
    if dataclasses.is_dataclass(load) and hasattr(load, "seed"):
        return dataclasses.replace(load, seed=load.seed + seed)
    return load
