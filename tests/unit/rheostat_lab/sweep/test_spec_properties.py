"""Any specification is accepted or rejected with BadInput, never with a traceback."""

from __future__ import annotations

import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat_lab.sweep.spec_places import SpecErrors
from rheostat_lab.sweep.sweep_spec import read_spec

GOOD: dict[str, Any] = {
    "minutes": 5,
    "slo": 10,
    "limits": [1, 8],
    "seeds": 2,
    "plants": {"small": {"kind": "spark", "executors": 2}},
    "loads": {"even": "constant:rate=500"},
    "policies": ["fixed", {"policy": "threshold", "set": {}}],
    "guards": {"cooldown_in_s": [0, 60]},
    "faults": {"loss": {"executor_loss": {"mean_s": 600}}},
    "bounds": False,
}
keys = st.sampled_from(["kind", "policy", "set", "mean_s", "executors", "x", 5, True])
odd = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 5)
    | st.sampled_from([10**400, float("nan"), float("inf"), 2.5, "", "x", "spark", "fixed"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=2),
    max_leaves=4,
)


def read(text: str) -> int:
    with TemporaryDirectory() as name:
        path = Path(name) / "s.yaml"
        path.write_text(text, encoding="utf-8")
        return len(read_spec(path))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths to all replaceable values of a specification."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [
        path,
        *(inner_path for key, child in inner for inner_path in places(child, (*path, key))),
    ]


def exchanged(path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    made = copy.deepcopy(GOOD)
    inside = made
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = new
    return made


def test_a_valid_spec_has_one_cell_per_combination() -> None:
    assert read(yaml.safe_dump(GOOD)) == 2 * 2 * 2


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(places(GOOD)), odd)
def test_any_replaced_value_is_accepted_or_reported(path: tuple[Any, ...], new: Any) -> None:
    try:
        assert read(yaml.safe_dump(exchanged(path, new))) >= 0
    except BadInput as refused:
        first, *lines = str(refused).splitlines()
        assert first.startswith("s.yaml")
        assert all(line.startswith("  line ") for line in lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("minutes: 2026-13-45\n", "s.yaml: a value cannot be read: month must be in 1..12"),
        ("minutes: &a [*a]\n", "an alias refers to the value that it is part of"),
        ("minutes: [1\n", "this is not YAML"),
        ("? [1]\n: 2\n", "found unhashable key"),
        ("", "a spec is a mapping"),
        ("- 1\n", "a spec is a mapping"),
    ],
)
def test_an_invalid_document_is_reported_in_one_line(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message) as error:
        read(text)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    "value", [10**400, -(10**400), float("inf"), float("nan"), True, "5", None]
)
def test_an_invalid_float_is_reported_without_a_traceback(value: Any) -> None:
    errors = SpecErrors("s.yaml", {})
    assert errors.number("minutes", value, above=0.0) is None
    with pytest.raises(BadInput, match="minutes: must be a number above 0"):
        errors.raise_errors()
