"""Commands on a recorded run: ``replay``, ``whatif`` and ``calibrate``."""
