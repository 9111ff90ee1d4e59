"""The policies: one algorithm a file, named as in the literature; one folder a way to decide."""
