"""The visual analogy extrapolation challenge, after webb2020."""
