"""The commands of ``rheostat-lab``, added to the ``rheostat`` command line by entry points."""
