"""Gradients of products, recurrences and scans, written by hand."""
