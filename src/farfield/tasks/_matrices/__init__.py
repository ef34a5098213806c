"""Progressive matrices, after barrett2018."""
