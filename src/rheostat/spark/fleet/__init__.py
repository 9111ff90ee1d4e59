"""A fleet of receivers that write pushed records into Kafka (SPARK-12133, version 3).

Senders are acknowledged only after the broker has stored the record.
"""
