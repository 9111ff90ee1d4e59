"""The policy that is used if none is configured."""

DEFAULT_POLICY = "predictive"
