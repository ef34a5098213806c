"""Classes of natural images, with all labels or a few."""
