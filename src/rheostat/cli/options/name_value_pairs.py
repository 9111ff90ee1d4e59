"""Parameters of a policy as they are written on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from rheostat.errors import BadInput


def pairs(
    given: Sequence[str], what: str = "parameter", example: str = "factor=0.3"
) -> dict[str, str]:
    """Return ``name=value`` texts as a dict; raises BadInput for bad or duplicate ones."""
    values: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(
                f"a {what} is written name=value, such as {example}, but this one is {text!r}"
            )
        if name.strip() in values:
            raise BadInput(
                f"the {what} {name.strip()} is set twice: {values[name.strip()]!r} and"
                f" {value.strip()!r}"
            )
        values[name.strip()] = value.strip()
    return values
