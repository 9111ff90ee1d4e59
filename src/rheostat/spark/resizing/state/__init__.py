"""State partitions: where they are, where they are sent, and how they are loaded."""
