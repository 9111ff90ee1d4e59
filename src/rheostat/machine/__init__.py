"""Resources of this computer: its JDK, ports, files and child processes."""
