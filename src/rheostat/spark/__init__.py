"""All code that touches PySpark: observes a session, and changes its size."""
