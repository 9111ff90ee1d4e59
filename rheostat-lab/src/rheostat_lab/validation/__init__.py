"""The validation of the simulator: queueing theory, its speed, and the cost of nodes."""
