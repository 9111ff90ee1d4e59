"""The contents of a checkpoint, read from its files; nothing here writes."""
