"""Many simulated runs: their specification, their cells, their rows, and their demand."""
