"""A Spark Connect server that is sized for the queries of all its clients."""
