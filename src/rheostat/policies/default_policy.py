"""The policy that decides where none is named."""

DEFAULT_POLICY = "predictive"
