"""What is to be known of a policy before it is trusted: its formula, its source, where it rests and
when it fails.
"""

from __future__ import annotations

from dataclasses import dataclass

from rheostat.model import Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Stands in a policy's class as ``about``; command line, documentation and contract tests read
    it.
    """

    formula: str
    """The rule in one to five lines, in the names of ``Observation`` and of the parameters."""

    source: str
    """Paper and equation, or project and class."""

    fails_when: str
    """The conditions under which it decides wrongly."""
    steady: Observation
    """A constant, well-sized load: seen for ten minutes, the target stays what it is."""

    monotone: bool = False
    """Whether more load (a higher arrival rate, all else equal) never asks for fewer executors."""
