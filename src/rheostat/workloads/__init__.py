"""Arrival rates as pure functions of time, for the simulator; `rheostat-lab` has more of them."""
