"""How a repartition goes step by step, and what it keeps to be resumed or taken back."""
