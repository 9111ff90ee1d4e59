"""What ``predictive`` decides from: what was learnt, the situation, the batches to come, safety."""
