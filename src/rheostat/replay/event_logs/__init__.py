"""Event logs of Spark, which every company keeps, as recordings."""
