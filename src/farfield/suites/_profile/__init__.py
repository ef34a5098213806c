"""Profiles of trained models over graded shifts of their items."""
