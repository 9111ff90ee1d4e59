"""Running queries in the JVM, and their plans."""
