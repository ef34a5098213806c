"""Networks that classify one image, or one vector."""
