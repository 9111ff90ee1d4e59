"""Rule-based policies: thresholds, ratios, symptoms and a control law on current signals."""
