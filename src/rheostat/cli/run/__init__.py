"""``rheostat run``: its options, its sizing, and what it shows and reports."""
