"""Changes the size of a live application: the rescale controller, which runs the protocol at batch
boundaries, and its parts.
"""
