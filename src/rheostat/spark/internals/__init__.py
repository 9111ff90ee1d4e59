"""Every call into Spark's internals: each is probed and has a fallback; nothing else imports py4j."""  # noqa: E501
