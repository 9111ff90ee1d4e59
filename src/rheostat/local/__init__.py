"""A Spark cluster on this computer: what ``rheostat run`` starts where there is no master."""
