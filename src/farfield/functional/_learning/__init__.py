"""Functions of learning rules: mixtures, consistency, adversarial directions."""
