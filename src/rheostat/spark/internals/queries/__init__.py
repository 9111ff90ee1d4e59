"""Running queries as the JVM knows them, and their plans."""
