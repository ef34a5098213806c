"""Neural function modules as layers: against loops, at first nothing, stacked, refusals."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from farfield.functional.internal import NFMRules
from farfield.nn import NFM
from made import drawn, generator, gradcheck, unsettled
from oracles import nfm as oracle

FEATURES = (3, 4, 2)
TEXT = NFMRules(num_heads=2, key_size=3, value_size=2, top_k=3)
RULES = {
    "text": TEXT,
    "released": replace(NFMRules.released(), num_heads=2, key_size=3, value_size=2, top_k=2),
    "generator": replace(TEXT, bias=True, kernel_size=3, residual_input=True),
}
SHAPES = {
    "vectors": [(), (), ()],
    "sequences": [(4,), (2,), (4,)],
    "maps": [(4, 2), (2, 2), (2, 4)],
    "maps, then a vector": [(4, 2), (2, 2), ()],
}
rules = pytest.mark.parametrize("name", RULES)
shapes = pytest.mark.parametrize("kind", SHAPES)


def built(name: str = "text", **options: object) -> NFM:
    return unsettled(NFM(FEATURES, rules=RULES[name], generator=generator(), **options))


def states(kind: str, batch: int = 3) -> list[Tensor]:
    """In the layout of torch: channels of maps before their positions."""
    return [
        as_torch(drawn(batch, *size, features, seed=20 + number))
        for number, (size, features) in enumerate(zip(SHAPES[kind], FEATURES, strict=True))
    ]


def as_torch(x: Tensor) -> Tensor:
    return x.movedim(-1, 1) if x.ndim == 4 else x


def features_last(x: Tensor) -> np.ndarray:
    return (x.movedim(1, -1) if x.ndim == 4 else x).detach().numpy()


def weights_of(nfm: NFM, layer: int) -> dict[str, np.ndarray]:
    """Of one layer, by the names of the oracle."""
    own = nfm.layers[layer]
    parts = {"query": own.query, "key": own.key, "value": own.value}
    parts |= {"hidden": own.out[0], "out": own.out[3]}
    found = {name: part.weight for name, part in parts.items()}
    if nfm.rules.bias:
        found |= {f"{name}_bias": part.bias for name, part in parts.items()}
    norm = own.out[1]
    found |= {"gain": norm.weight, "shift": norm.bias, "gamma": own.gamma}
    found |= {"mean": norm.running_mean, "var": norm.running_var}
    return {name: tensor.detach().numpy().copy() for name, tensor in found.items()}


def options(rules: NFMRules) -> oracle.Options:
    return oracle.Options(
        heads=rules.num_heads,
        top_k=rules.top_k,
        temperature=3**0.5 if rules.sqrt_scale else 3,
        null_first=rules.null_first,
        space_to_depth=rules.space_to_depth,
        subtract_next=rules.subtract_next,
    )


@rules
@shapes
@pytest.mark.parametrize("training", [True, False])
def test_layers(name: str, kind: str, training: bool) -> None:
    nfm = built(name).train(training)
    for layer in nfm.layers:
        layer.out[1].running_var.uniform_(0.5, 2, generator=generator(5))
    written, by_loops = (), []
    for layer, x in enumerate(states(kind)):
        w, own = weights_of(nfm, layer), features_last(x)
        by_loops.append((oracle.projected(own, w, "key"), oracle.projected(own, w, "value")))
        values, *_ = oracle.read(oracle.projected(own, w, "query"), by_loops, options(nfm.rules))
        residual = nfm.rules.residual_input
        expected = oracle.output(own, values, w, training=training, residual_input=residual)
        found, written = nfm(x, written, layer=layer)
        np.testing.assert_allclose(features_last(found), expected, rtol=1e-9, atol=1e-10)
        assert found.shape == x.shape


@rules
@shapes
def test_at_first_nothing_is_added(name: str, kind: str) -> None:
    nfm, written = NFM(FEATURES, rules=RULES[name], generator=generator()).double(), ()
    for layer, x in enumerate(states(kind)):
        found, written = nfm(x, written, layer=layer)
        assert torch.equal(found, x)


def test_what_was_written_stays_as_it_was() -> None:
    nfm, given = built(), states("maps")
    written = tuple(nfm.write(x, layer) for layer, x in enumerate(given[:2]))
    before = [[part.clone() for part in each] for each in written]
    first, longer = nfm(given[2], written, layer=2)
    again, _ = nfm(given[2], written, layer=2)
    torch.testing.assert_close(first, again, rtol=0, atol=0)
    assert (len(written), len(longer)) == (2, 3)
    for each, other in zip(before, written, strict=True):
        assert all(torch.equal(*pair) for pair in zip(each, other, strict=True))


def test_those_before_the_first_reader_only_write() -> None:
    nfm, given = built(first_reader=2), states("maps")
    assert {name for name, _ in nfm.layers[0].named_parameters()} == {"key.weight", "value.weight"}
    x, written = nfm(given[0], layer=0)
    assert x is given[0]
    with pytest.raises(ValueError, match="layer must be at least first_reader=2, got 1"):
        nfm.read(given[1], written, 1)


def test_a_trace_is_a_read() -> None:
    nfm, given = built(), states("maps")
    written = [nfm.write(x, layer) for layer, x in enumerate(given)]
    found, read = nfm.trace(given[2], written, 2)
    assert torch.equal(found, nfm.read(given[2], written, 2))
    assert [each.shape for each in read.attention] == [
        (3, 2, 4, 2, windows) for windows in (2, 1, 1)
    ]


@pytest.mark.parametrize("training", [True, False])
def test_networks_together_are_networks_alone_with_their_running_statistics(
    training: bool,
) -> None:
    networks = [
        unsettled(NFM(FEATURES, rules=TEXT, generator=generator(seed))) for seed in range(3)
    ]
    networks = [network.train(training) for network in networks]
    given = states("maps")
    parameters, buffers = torch.func.stack_module_state(networks)

    class Last(torch.nn.Module):
        def __init__(self, nfm: NFM) -> None:
            super().__init__()
            self.nfm = nfm

        def forward(self, *given: Tensor) -> Tensor:
            written = ()
            for layer, x in enumerate(given):
                found, written = self.nfm(x, written, layer=layer)
            return found

    def call(own: dict[str, Tensor], moving: dict[str, Tensor]) -> Tensor:
        tensors = {f"nfm.{name}": tensor for name, tensor in (own | moving).items()}
        return torch.func.functional_call(Last(networks[0]), tensors, tuple(given))

    together = torch.func.vmap(call)(parameters, buffers)
    for seed, network in enumerate(networks):
        torch.testing.assert_close(together[seed], Last(network)(*given), rtol=1e-9, atol=1e-10)
        for name, buffer in network.named_buffers():
            torch.testing.assert_close(buffers[name][seed], buffer, rtol=1e-9, atol=1e-10)


def test_running_statistics_move_in_training_alone() -> None:
    nfm, given = built(), states("maps")
    written = [nfm.write(x, layer) for layer, x in enumerate(given)]
    before = copy.deepcopy(nfm.state_dict())
    nfm.eval().read(given[2], written, 2)
    assert all(torch.equal(before[at], tensor) for at, tensor in nfm.state_dict().items())
    nfm.train().read(given[2], written, 2)
    moved = {at for at, tensor in nfm.state_dict().items() if not torch.equal(before[at], tensor)}
    names = ("running_mean", "running_var", "num_batches_tracked")
    assert moved == {f"layers.2.out.1.{name}" for name in names}


def test_gradients_reach_all_that_was_written() -> None:
    nfm, given = built(), [x.requires_grad_() for x in states("maps, then a vector")]

    def read(*given: Tensor) -> Tensor:
        written = [nfm.write(x, layer) for layer, x in enumerate(given)]
        return nfm.eval().read(given[2], written, 2)

    assert gradcheck(read, given)


def test_errors(unchecked: None) -> None:
    nfm, given = built(), states("maps")
    with pytest.raises(ValueError, match="written must hold a state before the first read"):
        nfm.read(given[0], (), 0)
    with pytest.raises(ValueError, match=r"layer must be 0…2, got 3"):
        nfm.write(given[0], 3)
    with pytest.raises(ValueError, match=r"the state of layer 1, got shape \(3, 3, 4, 2\)"):
        nfm.write(given[0], 1)
    with pytest.raises(ValueError, match=r"x must be of torch.float64, as the weights are"):
        nfm.write(given[0].float(), 0)
    with pytest.raises(ValueError, match=r"first_reader must be 0…2, one of the layers, got 3"):
        NFM(FEATURES, first_reader=3)
    with pytest.raises(ValueError, match="num_features must have at least one layer"):
        NFM(())
    assert "(3, 4, 2), first_reader=0, NFMRules(num_heads=2" in repr(nfm)
