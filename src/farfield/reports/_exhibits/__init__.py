"""Exhibits of figures, one file each."""
