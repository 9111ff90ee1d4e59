"""Orders and payments of each customer: two windowed aggregations and their full outer join;
foreachBatch with two sinks.
"""

import event_files
from pyspark.sql import functions as F

spark = event_files.session("balances")


def of(kind, name, total):
    """Return the windows of one kind of event."""
    events = event_files.events(spark).withWatermark("at", "10 seconds")
    key = F.coalesce("customer", F.lit("nobody")).alias("customer")
    return (
        events.where(F.col("kind") == kind)
        .groupBy(F.window("at", "10 seconds"), key)
        .agg(total.alias(name))
    )


balances = of("order", "orders", F.count("*")).join(
    of("payment", "paid", F.sum("amount")), ["window", "customer"], "fullOuter"
)
event_files.run(balances, "append", sinks=("first", "second"))
