"""A finished run as numbers, plots and a page."""
