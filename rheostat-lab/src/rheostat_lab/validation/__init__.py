"""How far the simulator can be trusted: queueing theory, its speed, and the cost of nodes."""
