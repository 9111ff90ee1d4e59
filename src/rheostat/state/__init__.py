"""Placement of keyed and operator state: Flink's rules, and Spark partitions on executors."""
