"""Metrics and events of a job, computed from the records of its loop, and their exports."""
