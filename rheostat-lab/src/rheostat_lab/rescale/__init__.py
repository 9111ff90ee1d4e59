"""What a live rescaling does to a stateful query, measured on real Spark."""
