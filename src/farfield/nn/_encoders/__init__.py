"""Encoders of items, and decoders."""
