"""What Rheostat would save for jobs that have never heard of it, from their event logs."""
