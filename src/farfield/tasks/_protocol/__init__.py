"""Protocols of tasks, and their shared parts."""
