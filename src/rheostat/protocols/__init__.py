"""The protocols of a rescale, as data and pure functions."""
