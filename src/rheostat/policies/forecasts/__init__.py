"""Policies that size by a forecast of the load."""
