"""What the computer has: its JDK, memory, free ports and child processes."""
