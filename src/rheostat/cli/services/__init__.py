"""Commands that run until they are stopped: the page of jobs, a Connect server, the operator."""
