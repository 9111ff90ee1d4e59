"""Mathematics over samples: windows, lines, curves and queues; it knows nothing of jobs."""
