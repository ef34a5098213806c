"""Images of squares in motion."""
