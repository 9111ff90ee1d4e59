"""Experiments that reproduce the literature and measure Rheostat; not needed to run a job."""
