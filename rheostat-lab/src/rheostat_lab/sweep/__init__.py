"""Many simulated runs: their specification, their cells, their rows, and the demand they show."""
