"""How executors come and go: their life as a table, and one step of it from memory and facts."""
