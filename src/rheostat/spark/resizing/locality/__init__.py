"""Which executors tasks prefer, and how long they wait for them, while the size changes."""
