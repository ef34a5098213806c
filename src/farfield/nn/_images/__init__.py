"""Fixed preprocessing of images."""
