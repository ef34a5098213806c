"""Linear attention: memories of keys and values that decay."""
