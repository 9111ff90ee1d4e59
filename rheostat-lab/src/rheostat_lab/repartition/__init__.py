"""Repartitions measured: beside Spark's own runner, and beside the ways that are not taken."""
