"""YARN on this computer: Hadoop's own ResourceManager and NodeManagers, in one process."""
