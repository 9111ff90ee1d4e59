"""Fits a plant to a recorded run and reports the error of the fit."""
