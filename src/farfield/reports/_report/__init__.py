"""Claims with their records and verdicts, as data and as words."""
