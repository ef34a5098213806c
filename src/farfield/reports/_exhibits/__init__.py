"""What figures show, one file each."""
