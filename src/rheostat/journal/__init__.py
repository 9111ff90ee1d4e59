"""The journal of a run: every tick with its reasons, and the memory of the policy."""
