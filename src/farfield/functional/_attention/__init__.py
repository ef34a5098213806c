"""Attention and relations between items."""
