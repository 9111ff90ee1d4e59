"""Runs an unchanged PySpark script with callbacks for its applications."""
