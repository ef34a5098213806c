"""Figures of the papers, and of our own."""
