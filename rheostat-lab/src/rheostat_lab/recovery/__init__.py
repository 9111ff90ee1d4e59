"""A Kafka job that is killed at its peak and restarted, with or without Rheostat."""
