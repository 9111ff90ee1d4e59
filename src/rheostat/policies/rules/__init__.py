"""Policies by rules: thresholds, ratios, symptoms and a control law over what is seen now."""
