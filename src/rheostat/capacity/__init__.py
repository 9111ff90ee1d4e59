"""How fast a job can be at a size: the micro-batch model and the concave curve."""
