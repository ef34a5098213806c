"""Mutants of the learning rules."""

MUTANTS = [
    (
        "objectives/_centred_l1.py",
        "share_of(part.centre(*inputs, **options))",
        "share_of(inputs[0])",
        [
            "tests/objectives/test_l1.py::test_the_price_is_the_mean_size_of_what_each_normalizer_divides"
        ],
    ),
    (
        "objectives/_watching.py",
        "each * (count / numbers)",
        "each / len(shares)",
        [
            "tests/objectives/test_l1.py::test_the_price_is_the_mean_size_of_what_each_normalizer_divides"
        ],
    ),
    (
        "objectives/_watching.py",
        "registered.callback(handle.remove)",
        "handle.id",
        [
            "tests/objectives/test_l1.py::test_nothing_stays_in_the_model",
            "tests/objectives/test_l1.py::test_nothing_stays_after_an_exception",
        ],
    ),
    (
        "objectives/_activation_l1.py",
        "sum(joined(shares, mean=self.mean_over_steps) for shares in seen.values())",
        "joined([share for shares in seen.values() for share in shares], mean=True)",
        ["tests/objectives/test_l1.py::test_named_layers_pay_for_what_they_give"],
    ),
    (
        "training/_stack.py",
        '''        """The shared module: its parts are what runs."""
        return self._inner[0]''',
        "        return self",
        ["tests/objectives/test_l1.py::test_networks_trained_together_are_networks_alone"],
    ),
    (
        "objectives/_watching.py",
        "    if not mean:",
        "    if False:",
        ["tests/objectives/test_l1.py::test_a_recurrent_cell_pays_for_each_of_its_steps"],
    ),
]
