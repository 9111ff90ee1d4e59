"""Spark Standalone on this computer: of a command, and one that outlives it."""
