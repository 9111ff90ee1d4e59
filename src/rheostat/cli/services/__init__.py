"""Commands that start what stays: a cluster, a broker, a Connect server, the operator."""
