"""Policies on real Spark and Kafka: the same days, played by each of them, beside each other."""
