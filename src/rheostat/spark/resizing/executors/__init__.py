"""Counts, requests and removes executors, and reports what the cluster does to them."""
