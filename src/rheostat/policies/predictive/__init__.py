"""The default policy: ``policy`` decides, ``learning`` updates its ``state`` from observations."""
