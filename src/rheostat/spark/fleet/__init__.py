"""A fleet of receivers: long-running tasks that take what senders push, over HTTP or a socket, and
write it into Kafka (SPARK-12133, version 3).

A sender has its acknowledgement only after the broker has the record.
"""
