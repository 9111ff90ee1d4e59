"""All that touches PySpark: what a session shows, and what changes its size."""
