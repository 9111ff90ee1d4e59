"""State written in other partitions by Spark jobs."""
