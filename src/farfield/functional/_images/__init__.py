"""Functions of images."""
