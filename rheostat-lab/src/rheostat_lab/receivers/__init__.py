"""Jobs with receivers, for benchmarks and tests that compare their input and output."""
