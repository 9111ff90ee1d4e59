"""State that gets another number of partitions while its query is stopped."""
