"""A finished run as numbers, pictures and a page."""
