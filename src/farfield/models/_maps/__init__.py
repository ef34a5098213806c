"""Networks that make maps of an image, and answer from what stands at their positions."""
