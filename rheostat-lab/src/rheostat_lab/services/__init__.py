"""Local services that outlive the command that started them, and the Kafka broker."""
