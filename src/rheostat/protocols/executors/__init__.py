"""The executor lifecycle as a table, and one step of it from memory and facts."""
