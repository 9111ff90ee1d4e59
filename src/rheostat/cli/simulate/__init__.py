"""``rheostat simulate``: one command a file, and what they are asked for."""
