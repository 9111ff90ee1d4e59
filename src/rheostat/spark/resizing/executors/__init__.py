"""Executors: counted, asked for with patience, told to leave; what the cluster does to them."""
