"""A job that Kubernetes sizes: the operator as a process next to a local cluster."""
