"""Counts with their nouns, as messages, reasons and pages show them."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: 1 executor, 2 executors."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
