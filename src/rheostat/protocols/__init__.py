"""The protocols of a change of size, as data and pure functions."""
