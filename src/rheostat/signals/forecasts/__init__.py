"""What the arrival rate will be: histories of rates, and forecasts made from them."""
