"""The supervised loss against a loop over problems."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from farfield.core import stream
from farfield.objectives import Supervised
from farfield.tasks import TRAINING
from farfield.training.internal import problems_of_run
from small import loss_of, small_experiment


def test_the_loss_is_the_mean_of_the_negative_log_probabilities_of_the_answers() -> None:
    experiment = small_experiment()
    problems = problems_of_run(experiment.task, 0)[TRAINING][:7].to("cpu", torch.float64)
    model = experiment.model.build(experiment.task, stream(0, "weights")).double()
    found = loss_of(Supervised(), model, problems, experiment.task.loss, stream(0, "objective"))
    logits = model(problems.items, problems.index).detach().numpy()
    total = 0.0
    for row, answer in zip(logits, problems.target.tolist(), strict=True):
        total -= row[answer] - np.log(sum(np.exp(logit) for logit in row))
    assert float(found.detach()) == pytest.approx(total / 7, rel=1e-9)
