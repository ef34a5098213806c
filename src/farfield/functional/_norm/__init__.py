"""Context normalization, divisive normalization and their shared parts."""
