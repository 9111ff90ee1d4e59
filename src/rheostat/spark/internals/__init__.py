"""Contains every call into Spark's internals, each with a probe and a fallback; only it uses py4j."""  # noqa: E501
