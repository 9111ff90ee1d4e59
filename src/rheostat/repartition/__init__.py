"""Changes the number of state partitions of a query while it is stopped."""
