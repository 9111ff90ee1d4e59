"""A simulated job: the production loop and policies, unchanged, against a calibrated plant."""
