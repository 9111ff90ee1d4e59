"""The job's part of a restart: requests it, stops its queries after their batches, and reports
progress.
"""
