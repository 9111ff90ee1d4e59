"""Local YARN: Hadoop's own ResourceManager and NodeManagers, in one process."""
