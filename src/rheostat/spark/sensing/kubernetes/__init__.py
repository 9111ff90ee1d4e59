"""What Kubernetes says of an application's pods, and what its driver may do with them."""
