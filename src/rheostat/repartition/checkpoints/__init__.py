"""Reads the contents of a checkpoint from its files; nothing here writes."""
