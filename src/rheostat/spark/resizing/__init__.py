"""What changes the size of a live application: the protocol at batch boundaries, and its hands."""
