"""A Kafka job that is killed at its peak and started again, sized or plain."""
