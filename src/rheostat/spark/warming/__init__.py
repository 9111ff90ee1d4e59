"""Executors that arrive warm, and state that is loaded before the batch that needs it."""
