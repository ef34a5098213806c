"""Neural Interpreters and the set layers beside them."""
