"""YARN and Kubernetes on this computer, as kinds of cluster of ``rheostat cluster up``."""
