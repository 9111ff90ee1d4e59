"""Estimates from event logs what Rheostat would save for jobs that run without it."""
