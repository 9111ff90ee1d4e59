"""Policies that size by executor capacity: true rates, service rates, measured throughput."""
