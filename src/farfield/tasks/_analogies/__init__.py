"""Visual analogies, after hill2019."""
