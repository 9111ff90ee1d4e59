"""A simulated Structured Streaming query."""
