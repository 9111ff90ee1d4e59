"""Files of any file system that Spark or Hadoop knows."""
