"""The comparison of policies on real Spark and Kafka, under the same loads."""
