"""Services on this computer that outlive the command that started them, and the Kafka broker."""
