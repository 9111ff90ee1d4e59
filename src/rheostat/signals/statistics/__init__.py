"""Mathematics on samples, independent of jobs: windows, lines, curves and queues."""
