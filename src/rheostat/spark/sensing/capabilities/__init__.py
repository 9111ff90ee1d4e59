"""What the settings of a session allow, determined before anything is tried."""
