"""Cluster managers: one module each, behind the port ``ClusterManager``."""
