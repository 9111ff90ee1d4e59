"""Restarts as a way to change a job's size: who starts the job, stops it and starts it again."""
