"""The protocols of a rescale with receivers: leaving executors and moving receivers."""
