"""Cluster managers: one file each behind the port ``ClusterManager``."""
