"""The public REST interface of the driver's UI: executors and stages."""
