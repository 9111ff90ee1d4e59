"""The job's half of a restart: it asks for one, stops its queries after their batches, and says how
far it is.
"""
