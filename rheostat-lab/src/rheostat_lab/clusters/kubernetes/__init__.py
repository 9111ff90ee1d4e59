"""Local Kubernetes: the real control plane, and nodes whose containers are processes."""
