"""``rheostat state``: one command a file."""
