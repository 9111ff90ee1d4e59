"""An unchanged PySpark script, run with something around its applications."""
