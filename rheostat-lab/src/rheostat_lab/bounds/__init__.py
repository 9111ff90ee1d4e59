"""The scale for policies: the best fixed size and the cheapest possible sizes."""
