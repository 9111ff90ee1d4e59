"""The Spark cluster on this computer that ``rheostat run`` starts if no master is configured."""
