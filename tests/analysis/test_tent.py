"""Tent: answers of the original, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from farfield.analysis import Tent
from farfield.core import stream
from golden import Golden, precisions


class Reads(nn.Module):
    """Layers, numbered as those of the original, on the only item of a problem."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, items: Tensor, index: Tensor) -> Tensor:
        return self.layers(items[index[:, 0]])


def network() -> Reads:
    convolutions = [nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU()]
    convolutions += [nn.Conv2d(4, 5, 3), nn.BatchNorm2d(5), nn.ReLU()]
    return Reads(*convolutions, nn.Flatten(), nn.Linear(20, 4))


def adapted(model: nn.Module, **options: Any) -> nn.Module:
    return Tent(of="test", **options).network(model.eval(), stream(0))


@precisions
def test_answers_and_gains_are_the_originals(
    golden: Callable[[str], dict[str, np.ndarray]], dtype: torch.dtype
) -> None:
    case = Golden("rivals_tent", golden("rivals_tent"), dtype)
    model = network().to(dtype)
    state = {f"layers.{n[6:]}": case.tensor(n) for n in case if n.startswith("state.")}
    model.load_state_dict(state, strict=False)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    numbers = case.meta["hyper_parameters"]
    own = adapted(model, learning_rate=numbers["lr"], steps=numbers["steps"])
    for batch, items in enumerate(case.tensor("in.x")):
        with torch.inference_mode():
            answers = own(items, torch.arange(len(items))[:, None])
        case.check(answers, f"logits{batch}")
    for name in ("1.weight", "1.bias", "4.weight", "4.bias"):
        case.check(own.get_parameter(f"network.layers.{name}"), f"after.{name}")
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name]), name  # the given network is unchanged


X = torch.randn(12, 2, 6, 6, generator=torch.Generator().manual_seed(0))
ROWS = torch.arange(12)[:, None]


def test_batches_change_the_network_for_later_ones() -> None:
    torch.nn.init.normal_((model := network()).layers[-1].weight, generator=torch.Generator())
    options = {"learning_rate": 0.5, "batch_size": 6}
    going_on, anew = adapted(model, **options), adapted(model, episodic=True, **options)
    first, second = going_on(X, ROWS).split(6)
    alone = [adapted(model, **options)(X, rows) for rows in ROWS.split(6)]
    torch.testing.assert_close(first, alone[0])
    assert not torch.allclose(second, alone[1])
    torch.testing.assert_close(anew(X, ROWS), torch.cat(alone))


def test_a_batch_has_statistics_of_its_own_items_alone() -> None:
    model = network()
    shared = adapted(model)(torch.cat([X, 9 + X]), ROWS)
    torch.testing.assert_close(shared, adapted(model)(X, ROWS))


def test_a_network_without_batch_normalization_is_refused() -> None:
    model = Reads(nn.Flatten(), nn.LayerNorm(72), nn.Linear(72, 4))
    with pytest.raises(ValueError, match=r"model must have batch normalization .* got Reads"):
        adapted(model)
    own = adapted(model, all_norms=True, learning_rate=0.1)
    before = own.get_parameter("network.layers.1.weight").detach().clone()
    torch.testing.assert_close(own(X, ROWS), model(X, ROWS))
    assert not torch.equal(own.get_parameter("network.layers.1.weight"), before)
    assert torch.equal(own.get_parameter("network.layers.2.weight"), model.layers[2].weight)
