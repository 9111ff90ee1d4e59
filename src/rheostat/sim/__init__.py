"""Simulates jobs: the unchanged production loop and policies run against a calibrated plant."""
