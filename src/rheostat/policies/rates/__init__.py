"""Policies that size by what an executor can do: true rates, service rates, measured throughput."""
