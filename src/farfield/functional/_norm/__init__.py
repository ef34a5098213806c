"""Context normalization, divisive normalization and what they share."""
