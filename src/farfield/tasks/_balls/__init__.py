"""Bouncing balls."""
