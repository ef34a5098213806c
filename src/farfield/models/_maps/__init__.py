"""Networks that make maps of an image, and answer from the features at their positions."""
