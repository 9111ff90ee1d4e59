"""What changes the size of a live application: the steward, which runs the protocol at batch
boundaries, and its parts.
"""
