"""What a session allows, told from its settings before anything is tried."""
