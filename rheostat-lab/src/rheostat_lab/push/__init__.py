"""A push load: senders that know what was acknowledged, and the verdict on what came out."""
