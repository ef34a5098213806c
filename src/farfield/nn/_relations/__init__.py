"""Layers over the relations of objects, whose values are symbols."""
