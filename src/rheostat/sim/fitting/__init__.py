"""A plant fitted to a recorded run, with its error."""
