"""Graded changes of items: images, series, tables, sets and text."""
