"""Pictures of closed outlines, and the problems of SVRT over them."""
