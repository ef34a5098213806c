"""Tasks on texts."""
