"""What a checkpoint says, read from its files; nothing here writes."""
