"""Where the checkpoint is: a folder of this computer, or one on HDFS."""
