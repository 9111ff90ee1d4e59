"""Kafka: offsets and lag from the broker, and the JARs of the broker and of Spark's source."""
