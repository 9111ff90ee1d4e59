"""Forecasts of the arrival rate, from its recorded history."""
