"""Diagnoses what a session, a checkpoint and this computer support, and a query's shape."""
