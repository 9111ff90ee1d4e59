"""``rheostat run``: its options, its execution and its report."""
