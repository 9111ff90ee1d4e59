"""The laboratory's commands, added to the ``rheostat`` command line by entry points."""
