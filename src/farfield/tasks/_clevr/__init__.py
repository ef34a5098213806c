"""Questions on scenes of squares and circles."""
