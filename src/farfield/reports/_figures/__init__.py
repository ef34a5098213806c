"""Figures of the papers, and further figures."""
