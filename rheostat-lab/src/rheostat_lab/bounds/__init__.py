"""What a policy is measured against: the best fixed size and the cheapest sizes there could be."""
