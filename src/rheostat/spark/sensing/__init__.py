"""Observation of a live application: its signals, its settings and what they allow."""
