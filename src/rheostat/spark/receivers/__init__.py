"""A StreamingContext with receivers, seen and sized (SPARK-12133, versions 1 and 2)."""
