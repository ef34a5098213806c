"""Pairs of colored grids that follow a rule."""
