"""Where keyed and operator state belongs: Flink's functions, and the assignment of state partitions
to executors.
"""
