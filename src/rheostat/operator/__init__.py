"""The Kubernetes operator: a custom resource and the controller that reconciles it."""
