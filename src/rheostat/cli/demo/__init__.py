"""``rheostat demo``: the main job, and its forms with an operator and with receivers."""
