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
        "objectives/_centred_l1.py",
        "hooks.callback(hook.remove)",
        "hook.id",
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
        "objectives/_bound.py",
        "{**self.tensors(), **given}",
        "{**self.tensors(), **(parameters or {})}",
        [
            "tests/objectives/test_l1.py::test_it_can_be_mapped_over_networks",
        ],
    ),
    (
        "objectives/_bound.py",
        "hooks.callback(handle.remove)",
        "handle.id",
        ["tests/objectives/test_l1.py::test_nothing_stays_in_the_model"],
    ),
    (
        "objectives/_mixup.py",
        "return mix(first, second, weight).mean(), update.state",
        "return first.mean(), update.state",
        ["tests/objectives/test_mixup.py::test_the_loss_is_that_of_mixtures"],
    ),
    (
        "objectives/_mean_teacher.py",
        ".detach().softmax(-1)",
        ".softmax(-1)",
        ["tests/objectives/test_mean_teacher.py::test_no_gradient_reaches_the_teacher"],
    ),
    (
        "objectives/_mean_teacher.py",
        "kept * tensor + new * parameters[name]",
        "kept * parameters[name] + new * tensor",
        ["tests/objectives/test_mean_teacher.py::test_the_teacher_is_a_running_mean"],
    ),
    (
        "training/_optimizer_state.py",
        "return state[path].clone()",
        "return state[path]",
        [
            "tests/training/test_optimizer_state.py::test_a_restored_state_shares_no_memory_with_what_was_saved"
        ],
    ),
    (
        "training/_stack.py",
        "objective.draw(batches, numbers.child(step))",
        "objective.draw(batches, self._streams[0].child(step))",
        [
            "tests/objectives/test_every_objective.py::test_networks_trained_together_are_networks_alone[mixup]"
        ],
    ),
    (
        "training/_learner.py",
        "for pattern in recipe.optimizer.undecayed",
        "for pattern in ()",
        [
            "tests/experiments/test_optimizers.py::test_torch_is_given_what_the_description_says",
        ],
    ),
    (
        "experiments/_aliases.py",
        'flags = {"warmup": rest["fraction"]}',
        'flags = {"warmup": 0.5}',
        [
            "tests/experiments/test_experiment.py::test_a_schedule_is_written_in_the_fields_it_always_had_and_read_back"
        ],
    ),
    (
        "objectives/_watching.py",
        "    if not mean:",
        "    if False:",
        ["tests/objectives/test_l1.py::test_a_recurrent_cell_pays_for_each_of_its_steps"],
    ),
]
