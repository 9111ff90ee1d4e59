"""The steps of a repartition, and the log that allows resuming or undoing it."""
