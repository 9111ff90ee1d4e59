"""The errors a user can meet: what is wrong, and what would be right."""

from __future__ import annotations


class RheostatError(Exception):
    """The work failed (exit code 1); the message is one line for the user."""

    exit_code = 1


class BadInput(RheostatError):
    """The user's input cannot be used (exit code 2); the message names the value and what would be
    right.
    """

    exit_code = 2
