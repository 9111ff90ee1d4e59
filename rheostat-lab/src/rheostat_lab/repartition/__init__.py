"""Measurements of repartitioning: Rheostat, Spark's own runner, and alternatives."""
