"""Handwritten digits and characters."""
