"""Loads as one line of text and as recorded files."""
