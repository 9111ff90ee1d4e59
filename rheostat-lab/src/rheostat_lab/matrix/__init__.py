"""Policies on real Spark and Kafka: the same loads, sized by each of them, beside each other."""
