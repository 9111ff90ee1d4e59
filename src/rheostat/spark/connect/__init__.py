"""A Spark Connect server that is autoscaled for the queries of all its clients."""
