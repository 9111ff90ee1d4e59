"""The policies: one algorithm per file, named as in the literature, and one folder per method."""
