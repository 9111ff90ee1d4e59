"""Changes a job's size by restarts: a supervisor stops the job and starts it again."""
