"""What is seen of a live application: signals, settings, and what they allow."""
