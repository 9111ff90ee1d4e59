"""Executors as the driver knows them: asked to come and go, reached, and the pods they run in."""
