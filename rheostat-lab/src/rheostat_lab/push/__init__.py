"""A push load: senders that record what was acknowledged, and the verdict on the output."""
