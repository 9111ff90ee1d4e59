"""A load survives its text form: every kind, sums and multiples; any other line is a load or gives
one line with the error."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.rheostat_lab.loads.test_every_load import single

from rheostat.errors import BadInput
from rheostat.sim.workload import Workload
from rheostat_lab.loads.registry import WORKLOADS
from rheostat_lab.loads.scaled import Scaled
from rheostat_lab.loads.sum import Sum
from rheostat_lab.loads.text import parse, with_seed

NAMES = {kind: name for name, kind in WORKLOADS.items()}


def text_of(load: Workload) -> str:
    """Return the text of a load, from which ``parse`` restores the same numbers."""
    if isinstance(load, Sum):
        return " + ".join(text_of(part) for part in load.parts)
    if isinstance(load, Scaled):
        return f"{load.factor!r} * {text_of(load.load)}"
    assert dataclasses.is_dataclass(load)
    given_ = {field.name: getattr(load, field.name) for field in dataclasses.fields(load)}
    settings_ = ",".join(
        f"{name}={','.join(map(repr, value)) if isinstance(value, tuple) else value}"
        for name, value in given_.items()
    )
    return f"{NAMES[type(load)]}:{settings_}"


scaled = st.builds(Scaled, single, st.floats(0.1, 10))
sums = st.lists(single | scaled, min_size=2, max_size=3).map(lambda parts: Sum(tuple(parts)))


@settings(max_examples=25)
@given(single | scaled | sums)
def test_a_load_survives_a_round_trip_through_text(load: Workload) -> None:
    assert parse(text_of(load)) == load


@settings(max_examples=15)
@given(sums, st.integers(0, 10**6))
def test_another_seed_changes_only_the_seed(load: Sum, seed: int) -> None:
    moved = with_seed(load, seed)
    assert isinstance(moved, Sum)
    assert with_seed(load, 0) == load
    for before, after in zip(load.parts, moved.parts, strict=True):
        plain, changed = (
            part.load if isinstance(part, Scaled) else part for part in (before, after)
        )
        assert dataclasses.is_dataclass(plain)
        assert dataclasses.is_dataclass(changed)
        differs = {
            field.name
            for field in dataclasses.fields(plain)
            if getattr(plain, field.name) != getattr(changed, field.name)
        }
        assert differs <= {"seed"}


words = st.sampled_from(
    ["day", "steps", "cosine", ":", ",", "=", " + ", " * ", "low", "levels", "seed", "1", "-2", "x"]
)


@settings(max_examples=30)
@given(st.lists(words, max_size=9).map("".join))
def test_any_text_is_a_load_or_rejected_in_one_line(text: str) -> None:
    try:
        load = parse(text)
    except BadInput as refused:
        output = str(refused)
    else:
        output = f"{load.rate_per_s(0.0):g}"
    assert len(output.splitlines()) == 1


@pytest.mark.parametrize(
    "text", ["day:", "day:,", " day ", "day:low= 300 ", "steps:levels=500, 2000, 500"]
)
def test_blanks_and_empty_parts_are_ignored(text: str) -> None:
    assert parse(text) == parse(text.strip().partition(":")[0])
