"""Settings of Spark and of Rheostat: whose they are, what they make of an application, and why."""
