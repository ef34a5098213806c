"""The emergent symbol binding network, step by step."""
