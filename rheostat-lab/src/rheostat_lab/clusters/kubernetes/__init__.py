"""Kubernetes on this computer: the real control plane, and nodes whose containers are processes."""
