"""A simulated Flink job in reactive mode."""
