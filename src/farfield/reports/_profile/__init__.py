"""Extrapolation profiles as pictures."""
