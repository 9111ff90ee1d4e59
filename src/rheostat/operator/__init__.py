"""The cluster's half: a custom resource, and what keeps drivers as it says."""
