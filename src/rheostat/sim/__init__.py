"""A job that is simulated: the production loop and policies, unchanged, against a plant whose error
is known.
"""
