"""Spark jobs that write state with another number of partitions."""
