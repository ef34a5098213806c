"""Points in the plane that belong to curved classes."""
