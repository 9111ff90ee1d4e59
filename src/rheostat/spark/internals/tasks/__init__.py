"""Rheostat's own tasks on chosen executors, and the locality waits of all tasks."""
