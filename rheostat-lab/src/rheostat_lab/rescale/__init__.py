"""The effects of a live rescaling on a stateful query, measured on real Spark."""
