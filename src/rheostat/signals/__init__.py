"""Estimators: pure functions from samples to the signals that policies read."""
