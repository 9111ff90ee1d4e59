"""Policies that look ahead: they size by the load to come."""
