"""State in Spark: its locations, moving, loading, reading and rewriting it."""
