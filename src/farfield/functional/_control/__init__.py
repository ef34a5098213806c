"""Functions of learning from rewards."""
