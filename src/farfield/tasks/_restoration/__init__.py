"""Tasks of image restoration."""
