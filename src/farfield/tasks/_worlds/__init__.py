"""Environments: worlds to act in."""
