"""Jobs with receivers, for benchmarks and tests: what was sent is laid beside what came out."""
