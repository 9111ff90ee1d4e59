"""All registered policies beside the bounds on the simulated Spark job."""
