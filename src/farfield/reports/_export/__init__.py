"""What was run, written to files and read back."""
