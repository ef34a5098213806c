"""Layers of agents that learn from rewards."""
