"""The errors that are shown to users: what is wrong, and what would be valid."""

from __future__ import annotations


class RheostatError(Exception):
    """The operation failed (exit code 1); the message is one line for the user."""

    exit_code = 1


class BadInput(RheostatError):
    """The user's input is invalid (exit code 2); the message names it and a valid alternative."""

    exit_code = 2
