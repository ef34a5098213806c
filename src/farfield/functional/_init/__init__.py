"""Initial weights."""
