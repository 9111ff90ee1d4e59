"""Warms new executors, and loads state before the batch that needs it."""
