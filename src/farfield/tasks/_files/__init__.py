"""Files of data sets: fetched, found, read with limits."""
