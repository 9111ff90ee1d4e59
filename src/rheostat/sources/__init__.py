"""Backlog of sources other than Kafka: one port and a reader per kind of source."""
