"""Neural Interpreters: scripts, lines of code, modulated layers, types."""
