"""OCRA and the Slot Abstractor beside the originals, and slots of pictures in networks."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from torch import Tensor

from farfield.core import Problems, stream
from farfield.experiments import Network, Spec
from farfield.experiments.internal import AutoencoderNetwork
from farfield.models import ESBN, OCRA, CoRelNet, SlotAbstractor
from farfield.models.internal import Relational
from farfield.nn import ContextNorm, SlotDecoder, SlotEncoder
from farfield.tasks import SameDifferent
from golden import Golden, cases, precisions

WEIGHTS = ("weight", "bias")


def linked(pairs: Mapping[str, str]) -> dict[str, str]:
    """Name weight and bias of each pair of layers."""
    return {f"{ours}.{kind}": f"{pairs[ours]}.{kind}" for ours in pairs for kind in WEIGHTS}


def attention(golden: Golden, ours: str, theirs: str) -> dict[str, Tensor]:
    """Return the weights of self-attention, which the original keeps in one matrix."""
    parts = golden.tensor(f"state.{theirs}.fn.to_qkv.weight").chunk(3)
    names = [f"{ours}.{name}.weight" for name in ("query", "key", "value")]
    return dict(zip(names, parts, strict=True))


def layer(ours: str, own: str, network: str) -> dict[str, str]:
    """Name the parameters of self-attention and of the network of a layer."""
    return linked(
        {
            f"{ours}.norm1": f"{own}.norm",
            f"{ours}.attention.output": f"{own}.fn.to_out.0",
            f"{ours}.norm2": f"{network}.norm",
            f"{ours}.fc1": f"{network}.fn.net.0",
            f"{ours}.fc2": f"{network}.fn.net.3",
        }
    )


def check(model: OCRA | SlotAbstractor, golden: Golden, names: dict[str, str], more: dict) -> None:
    """Compare scores, and their gradients by the slots, with the original's."""
    model.to(golden.dtype)
    state = model.state_dict()
    loaded = {
        ours: golden.tensor(f"state.{theirs}").reshape(state[ours].shape)
        for ours, theirs in names.items()
    } | more
    assert set(loaded) == set(state)
    model.load_state_dict(loaded)
    halves = [golden.tensor(f"in.{name}").requires_grad_() for name in ("features", "positions")]
    scores = model(torch.cat(halves, dim=-1).flatten(0, 1)).reshape(
        golden.tensor("out.scores").shape
    )
    golden.check(scores, "scores")
    found = torch.autograd.grad(scores.square().sum(), halves)
    for name, gradient in zip(("features", "positions"), found, strict=True):
        wanted = golden.tensor(f"gradin.{name}")
        torch.testing.assert_close(gradient, wanted, atol=1e-5, rtol=1e-4)


def sizes_of(golden: Golden) -> dict[str, int]:
    given = golden.meta["hyper_parameters"]
    return {
        "num_layers": given["depth"],
        "num_heads": given["heads"],
        "head_size": given["head_width"],
        "feedforward_size": given["mlp"],
    }


@cases("rivals_ocra_scores")
@precisions
def test_ocra_is_the_original(case: str, dtype: torch.dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    size = arrays.meta["hyper_parameters"]["features"]
    model = OCRA(2 * size, 1, **sizes_of(arrays))
    names = {"context.weight": "gamma", "context.bias": "beta", "start": "transformer.cls_token"}
    names |= linked(
        {
            "content": "embed_feat",
            "position": "embed_pos",
            "relation": "embed_layer",
            "output": "transformer.mlp_head",
        }
    )
    more = {}
    for number in range(arrays.meta["hyper_parameters"]["depth"]):
        theirs = f"transformer.transformer.layers.{number}"
        names |= layer(f"layers.{number}", f"{theirs}.0", f"{theirs}.1")
        more |= attention(arrays, f"layers.{number}.attention", f"{theirs}.0")
    check(model, arrays, names, more)


@cases("rivals_slot_abstractor")
@precisions
def test_the_slot_abstractor_is_the_original(case: str, dtype: torch.dtype, golden) -> None:
    arrays = Golden(case, golden(case), dtype)
    size = arrays.meta["hyper_parameters"]["features"]
    model = SlotAbstractor(2 * size, 1, **sizes_of(arrays))
    names = {"context.weight": "gamma", "context.bias": "beta"}
    names |= linked({"output": "abstractors.mlp_head"})
    more = {}
    for number in range(arrays.meta["hyper_parameters"]["depth"]):
        ours, theirs = f"layers.{number}", f"abstractors.abstractor.layers.{number}"
        names |= layer(f"{ours}.own", f"{theirs}.0", f"{theirs}.2")
        names |= linked({f"{ours}.norm": f"{theirs}.1.norm"})
        names |= linked({f"{ours}.cross.output": f"{theirs}.1.to_out.0"})
        for name in ("query", "key", "value"):
            names[f"{ours}.cross.{name}.weight"] = f"{theirs}.1.to_{name[0]}.weight"
        more |= attention(arrays, f"{ours}.own.attention", f"{theirs}.0")
    check(model, arrays, names, more)


def slots(count: int = 4, size: int = 8) -> Tensor:
    return torch.randn(3, count, size, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("cls", [OCRA, SlotAbstractor])
def test_the_order_of_slots_means_nothing_to_the_slot_abstractor(cls) -> None:
    """OCRA reads pairs above the diagonal, whose relation is not the same both ways."""
    model = cls(8, 2, num_layers=1, generator=torch.Generator().manual_seed(0))
    turned = model(slots().flip(1))
    assert torch.allclose(model(slots()), turned, atol=1e-5) == (cls is SlotAbstractor)


@pytest.mark.parametrize("cls", [OCRA, SlotAbstractor])
def test_slots_of_another_form_are_refused(cls) -> None:
    with pytest.raises(ValueError, match=r"in_features must be even.* got 7"):
        cls(7, 2)
    with pytest.raises(ValueError, match="at least two slots"):
        cls(8, 2, num_layers=1)(slots(count=1))


def test_the_released_slot_abstractor_starts_with_symmetric_relations() -> None:
    model = SlotAbstractor.released(8, 1, generator=torch.Generator().manual_seed(0))
    plain = SlotAbstractor(8, 1, generator=torch.Generator().manual_seed(0))
    for layer, other in zip(model.layers, plain.layers, strict=True):
        assert torch.equal(layer.cross.query.weight, layer.cross.key.weight)
        assert not torch.equal(other.cross.query.weight, other.cross.key.weight)


def pictures(count: int = 5) -> Tensor:
    return torch.rand(count, 8, 8, generator=torch.Generator().manual_seed(2))


def encoder(**options: object) -> SlotEncoder:
    return SlotEncoder(
        (8, 8),
        num_slots=3,
        num_features=4,
        num_halvings=1,
        generator=torch.Generator().manual_seed(0),
        **options,
    )


def test_an_element_is_the_mean_of_features_and_of_positions_under_a_slot() -> None:
    plain, split = encoder(), encoder(split=True)
    elements = split(pictures())
    assert elements.shape == (5, 3, split.out_features)
    maps = split._map(pictures()).flatten(2).mT
    low, high = maps.amin(1, keepdim=True), maps.amax(1, keepdim=True)
    content = elements[..., :4]
    assert ((low - 1e-5 <= content) & (content <= high + 1e-5)).all()
    assert plain(pictures()).shape == (5, 3, plain.out_features)
    assert plain.state_dict().keys() == split.state_dict().keys()


def test_white_ground_has_no_features_at_first() -> None:
    plain, own = encoder(split=True), encoder(split=True, white_ground=True)
    ground, dark = torch.ones(2, 8, 8), torch.zeros(2, 8, 8)
    assert not own._map(ground).any()
    assert own._map(dark).any()
    assert plain._map(ground).any()
    assert not own(ground)[..., :4].any()  # contents


def test_masks_of_the_decoder_sum_to_one() -> None:
    decoder = SlotDecoder((3, 8, 8), 4, channels=5, num_doublings=2)
    assert decoder(slots(size=4)).shape == (3, 3, 8, 8)
    with torch.no_grad():
        decoder.output.weight.zero_()
        decoder.output.bias.copy_(torch.tensor([0.25, 0.5, 0.75, 9.0]))
    wanted = torch.tensor([0.25, 0.5, 0.75])[:, None, None].expand(3, 3, 8, 8)
    torch.testing.assert_close(decoder(slots(size=4)), wanted)
    with pytest.raises(ValueError, match="num_doublings=2 needs height and width that 4 divides"):
        SlotDecoder((6, 6), 4, num_doublings=2)


@pytest.mark.parametrize(
    "reasoner", [Spec(OCRA, num_layers=1), Spec(CoRelNet), Spec(ESBN, hidden_size=8)]
)
def test_reasoners_read_all_slots_of_all_pictures_of_a_problem(reasoner: Spec) -> None:
    task = SameDifferent(withheld=95)
    slot_encoder = Spec(SlotEncoder, num_slots=3, num_features=4, split=True)
    network = Network(reasoner=reasoner, encoder=slot_encoder, context=Spec(ContextNorm))
    model = network.build(task, stream(0))
    assert isinstance(model, Relational)
    items = pictures(4)
    index = torch.tensor([[0, 1], [2, 3]])
    model.encoder = encoder(split=True)
    elements = model.encoder(items)
    read = model.embed(items, index)
    wanted = model.context(torch.cat([elements[index[:, 0]], elements[index[:, 1]]], dim=1))
    torch.testing.assert_close(read, wanted)
    assert model(items, index).shape == (2, task.num_outputs)


def test_an_autoencoder_of_slots_gives_pictures_back() -> None:
    network = AutoencoderNetwork(
        encoder=Spec(SlotEncoder, num_slots=2, num_features=4),
        decoder=Spec(SlotDecoder, channels=3, num_doublings=2),
    )
    task = SameDifferent(withheld=95)
    problems: Problems = task.draw(stream(0))["training"]
    model = network.build(task, stream(0))
    given = model(problems.items[:3], torch.tensor([[2], [0]]))
    assert given.shape == (2, 32, 32)
    again = model(problems.items[:3], torch.tensor([[0], [2]]))
    torch.testing.assert_close(given.flip(0), again)
