"""Export of records and figures as text, and its reading."""
