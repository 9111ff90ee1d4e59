"""Local YARN and Kubernetes, as kinds of cluster of ``rheostat cluster up``."""
