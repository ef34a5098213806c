"""Recurrent Independent Mechanisms."""
