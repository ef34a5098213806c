"""What a task is, and what tasks share."""
