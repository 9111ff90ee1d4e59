"""The demo: a day of load on real Spark and Kafka, its live view, its verdict and its report."""
