"""Sheets of sample problems."""
