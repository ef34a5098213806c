"""Fuzzy Boolean expressions."""
