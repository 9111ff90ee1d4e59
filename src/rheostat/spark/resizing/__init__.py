"""Changes the size of a live application at batch boundaries."""
