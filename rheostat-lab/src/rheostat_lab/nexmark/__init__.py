"""Nexmark bids, queries and their batch oracles."""
