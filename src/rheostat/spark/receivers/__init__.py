"""Observes and scales a StreamingContext with receivers (SPARK-12133, versions 1 and 2)."""
