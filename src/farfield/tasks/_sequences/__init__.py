"""Tasks over long sequences."""
