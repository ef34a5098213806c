"""Tables of claims as text."""
