"""Rheostat sizes a running PySpark Structured Streaming job."""
