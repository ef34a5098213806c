"""Recurrent and other sequence layers."""
