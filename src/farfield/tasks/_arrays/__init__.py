"""Tasks of the user's arrays, and readers of their files."""
