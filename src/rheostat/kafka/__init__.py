"""Kafka: the lag that a broker keeps, a local broker, and the JARs of both sides."""
