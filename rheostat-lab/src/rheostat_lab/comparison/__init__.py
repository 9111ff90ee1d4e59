"""The comparison of all registered policies with the bounds on the simulated Spark job."""
