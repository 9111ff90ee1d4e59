"""Files wherever they are: one port with its implementations, leases and append-only logs."""
