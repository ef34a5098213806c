"""Neural function modules."""
