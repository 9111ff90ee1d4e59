"""Tasks of Rheostat's own on executors of its choice, and how long any task waits for one."""
