"""External memories: NTM, DNC, MNM, EntNet, relational and function memory."""
