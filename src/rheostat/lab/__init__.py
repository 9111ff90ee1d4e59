"""Experiments on real Spark and Kafka: load, queries, the demo."""
