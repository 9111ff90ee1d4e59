"""A job that Kubernetes sizes: the operator as a process beside a cluster of this computer."""
