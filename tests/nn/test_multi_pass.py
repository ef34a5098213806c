"""Networks in several passes whose layers read one another."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from farfield.functional.internal import NFMRules, WrittenState
from farfield.nn import MultiPass
from made import drawn, generator, unsettled

RULES = NFMRules(num_heads=2, key_size=3, value_size=2, top_k=3)
CLASSES = 3


class Images(nn.Module):
    """Two convolutions with batch normalization, and a layer on all that they give."""

    layers, num_features = ("first", "second.0"), (4, 6)
    x = drawn(5, 2, 8, 6, seed=1)

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(2, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.second = nn.Sequential(nn.Conv2d(4, 6, 3, stride=2, padding=1), nn.ReLU())
        self.head = nn.Linear(6, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.second(self.norm(self.first(x)).relu()).mean((2, 3)))


class Tokens(nn.Module):
    """Two blocks of a Transformer over a sequence, and a layer on their sum."""

    layers, num_features = ("blocks.0", "blocks.1", "head"), (8, 8, CLASSES)
    x = drawn(5, 4, 3, seed=2)

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(3, 8)
        self.blocks = nn.Sequential(*(self.block() for _ in range(2)))
        self.head = nn.Linear(8, CLASSES)

    @staticmethod
    def block() -> nn.Module:
        return nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(self.embed(x)).sum(1))


networks = pytest.mark.parametrize("kind", [Images, Tokens])
passes = pytest.mark.parametrize("passes", [1, 2, 3])
shared = pytest.mark.parametrize("shared", [True, False])


def network_of(kind: type[nn.Module], seed: int = 0) -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return kind().double()


def multi_pass(kind: type[nn.Module], seed: int = 0, **options: object) -> MultiPass:
    options = {"rules": RULES, "generator": generator(seed), **options}
    return MultiPass(network_of(kind, seed), kind.layers, kind.num_features, **options)


def by_hand(model: MultiPass, x: Tensor) -> Tensor:
    """The passes one after another, each layer called where it stands."""
    written: list[WrittenState] = []
    step = 0

    def called(x: Tensor, reads: bool) -> Tensor:
        nonlocal step
        written.append(model.nfm.write(x, step))
        found = model.nfm.read(x, tuple(written), step) if reads else x
        step += 1
        return found

    for number in range(model.passes):
        own = model.networks[0 if model.shared else number]
        reads = number >= model.nfm.first_reader // len(model.layers)
        if isinstance(own, Images):
            hidden = own.norm(called(own.first(x), reads)).relu()
            hidden = called(own.second[0](hidden), reads).relu()
            found = own.head(hidden.mean((2, 3)))
        else:
            hidden = called(own.blocks[0](own.embed(x)), reads)
            hidden = called(own.blocks[1](hidden), reads)
            found = called(own.head(hidden.sum(1)), reads)
    return found


@networks
@passes
@shared
@pytest.mark.parametrize("first_reads", [True, False])
def test_passes(kind: type[nn.Module], passes: int, shared: bool, first_reads: bool) -> None:
    model = multi_pass(kind, passes=passes, shared=shared, first_reads=first_reads)
    model = unsettled(model).eval()
    torch.testing.assert_close(model(kind.x), by_hand(model, kind.x), rtol=1e-12, atol=1e-12)
    alone = model.networks[-1](kind.x)
    assert not torch.allclose(model(kind.x), alone, rtol=1e-3)  # what is read counts
    readers = {name.split(".")[1] for name in model.nfm.state_dict() if "gamma" in name}
    number = len(kind.layers) * (passes if first_reads or passes == 1 else passes - 1)
    assert len(readers) == number


@networks
@pytest.mark.parametrize("passes", [1, 3])
@shared
@pytest.mark.parametrize("training", [True, False])
def test_at_first_a_network_answers_as_without(
    kind: type[nn.Module], passes: int, shared: bool, training: bool
) -> None:
    network = network_of(kind).train(training)
    model = multi_pass(kind, passes=passes, shared=shared).train(training)
    assert torch.equal(model(kind.x), network(kind.x))


@networks
def test_other_passes_have_weights_drawn_anew(kind: type[nn.Module]) -> None:
    network = network_of(kind)
    if kind is Images:
        network.norm.running_mean.add_(1)
    before = copy.deepcopy(network.state_dict())
    model = MultiPass(network, kind.layers, kind.num_features, passes=3, generator=generator())
    assert model.networks[-1] is network
    assert all(torch.equal(before[at], tensor) for at, tensor in network.state_dict().items())
    first, second, _ = (each.state_dict() for each in model.networks)
    for name, tensor in before.items():
        for other in (first, second):
            assert other[name].dtype == tensor.dtype
            assert other[name].data_ptr() != tensor.data_ptr()
        if name.endswith("weight") and "norm" not in name:
            spread = tensor.std()
            for one, another in ((first, before), (second, before), (first, second)):
                assert (one[name] - another[name]).abs().mean() > 0.5 * spread
                assert 0.5 < one[name].std() / spread < 2
    if kind is Images:
        assert (first["norm.running_mean"] == 0).all()


@networks
def test_shared_passes_are_one_network(kind: type[nn.Module]) -> None:
    model = multi_pass(kind, passes=3, shared=True)
    assert len(model.networks) == 1
    assert len(model.nfm.layers) == 3 * len(kind.layers)


def test_a_trace_names_who_read_whom() -> None:
    model = unsettled(multi_pass(Images)).eval()
    first, second = model.trace(Images.x)
    below = ((1, "first"), (1, "second.0"), (2, "first"))
    assert (first.reader, first.written) == ((2, "first"), below)
    assert (second.reader, second.written) == ((2, "second.0"), (*below, (2, "second.0")))
    assert first.attention.shape == (5, 8, 6, 2, 4)
    assert second.attention.shape == (5, 4, 3, 2, 5)
    for read in (first, second):
        torch.testing.assert_close(read.attention.sum(-1), torch.ones_like(read.attention[..., 0]))
    dense = replace(RULES, top_k=None)
    with torch.no_grad():
        model = unsettled(multi_pass(Images, rules=dense)).eval()
        model.nfm.layers[2].query.weight.zero_()
    (first, _) = model.trace(Images.x)
    assert (first.attention == 0.25).all()


def test_a_trace_goes_by_the_calls_and_not_by_the_names() -> None:
    network = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 4), nn.Tanh())
    turned = MultiPass(network, ("1", "0"), (4, 4), passes=1, rules=RULES)
    assert turned.trace(drawn(2, 3).float())[1].written == ((1, "0"), (1, "1"))


def test_attention_may_be_drawn_at_random() -> None:
    model = unsettled(multi_pass(Images)).eval()
    before = copy.deepcopy(model.state_dict())
    found, again, other = (
        model.randomized(Images.x, generator=generator(seed)) for seed in (0, 0, 1)
    )
    assert torch.equal(found, again)
    assert not torch.allclose(found, other)
    assert not torch.allclose(found, model(Images.x))
    assert all(torch.equal(before[at], tensor) for at, tensor in model.state_dict().items())


@shared
def test_nothing_is_left_of_a_call(shared: bool) -> None:
    model = unsettled(multi_pass(Images, shared=shared)).eval()
    wrong = Images.x[:, :1]
    first = model(Images.x)
    with pytest.raises(RuntimeError):
        model(wrong)
    assert torch.equal(model(Images.x), first)
    for network in model.networks:
        assert not any(part._forward_hooks for part in network.modules())
    assert vars(model).keys() == vars(multi_pass(Images, shared=shared)).keys()


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # of torch's attention
@networks
@shared
@pytest.mark.parametrize("training", [True, False])
def test_models_together_are_models_alone(
    kind: type[nn.Module], shared: bool, training: bool
) -> None:
    models = [
        unsettled(
            multi_pass(kind, seed, shared=shared),
        )
        for seed in range(3)
    ]
    models = [model.train(training) for model in models]
    parameters, buffers = torch.func.stack_module_state(models)

    def loss(own: dict[str, Tensor], moving: dict[str, Tensor]) -> Tensor:
        found = torch.func.functional_call(models[0], (own, moving), (kind.x,))
        return found.sin().sum()

    gradients, found = torch.func.vmap(torch.func.grad_and_value(loss))(parameters, buffers)
    for seed, model in enumerate(models):
        alone = model(kind.x).sin().sum()
        torch.testing.assert_close(found[seed], alone, rtol=1e-9, atol=1e-10)
        alone.backward()
        for name, parameter in model.named_parameters():
            expected = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            torch.testing.assert_close(gradients[name][seed], expected, rtol=1e-7, atol=1e-9)
        for name, buffer in model.named_buffers():
            torch.testing.assert_close(buffers[name][seed], buffer, rtol=1e-9, atol=1e-10)


@pytest.mark.usefixtures("unchecked")  # sizes are tensors
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of torch's own
def test_an_export_takes_any_number_of_images() -> None:
    model = unsettled(multi_pass(Images)).eval()
    batch = torch.export.Dim("batch", min=2, max=10_000)
    program = torch.export.export(model, (Images.x,), dynamic_shapes=(({0: batch},),)).module()
    for number in (2, 5, 40):
        x = drawn(number, *Images.x.shape[1:])
        torch.testing.assert_close(program(x), model(x), rtol=1e-9, atol=1e-12)


def test_the_position_of_a_token_is_read_by_itself() -> None:
    """Between layers nothing passes from position to position: that is for the network."""
    model = unsettled(MultiPass(nn.Sequential(nn.Linear(3, 4)), ("0",), (4,), rules=RULES)).eval()
    x, order = drawn(2, 5, 3), [3, 1, 4, 0, 2]
    torch.testing.assert_close(model(x[:, order]), model(x)[:, order])


class Bare(nn.Module):
    """A layer with a weight that it cannot draw."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


def test_errors(unchecked: None) -> None:
    def built(layers: object = ("first",), features: object = (4,), **options: object) -> MultiPass:
        return MultiPass(Images(), layers, features, rules=RULES, **options)

    with pytest.raises(ValueError, match=r"got 'second.00'; did you mean 'second.0'\?"):
        built(("second.00",))
    with pytest.raises(ValueError, match="layers must be different ones, and at least one"):
        built(("first", "first"), (4, 4))
    with pytest.raises(ValueError, match="layers must be different ones, and at least one"):
        built((), ())
    with pytest.raises(ValueError, match=r"a number for each of the 1 layers, got \(4, 6\)"):
        built(features=(4, 6))
    with pytest.raises(ValueError, match="passes must be an int 1…1024, got 0"):
        built(passes=0)
    with pytest.raises(ValueError, match=r"the state of layer 0, got shape \(5, 4, 8, 6\)"):
        built(features=(5,))(Images.x.float())
    with pytest.raises(ValueError, match="layers must each return one tensor, got tuple from '0'"):
        MultiPass(nn.Sequential(nn.LSTM(3, 4)), ("0",), (4,))(torch.zeros(2, 3))
    bare = nn.Sequential(nn.Linear(3, 3), Bare())
    with pytest.raises(ValueError, match=r"got '1', a Bare without; shared=True needs none"):
        MultiPass(bare, ("0",), (3,))
    assert MultiPass(bare, ("0",), (3,), shared=True)(torch.zeros(2, 3)).shape == (2, 3)


def test_sizes_that_are_no_multiples_go_by_nearest_neighbors_alone(unchecked: None) -> None:
    uneven = drawn(5, 2, 7, 6)
    with pytest.raises(ValueError, match=r"multiples or divisors .*got \(4, 3\); space_to_depth=F"):
        multi_pass(Images)(uneven)
    nearest = replace(RULES, space_to_depth=False)
    assert multi_pass(Images, rules=nearest)(uneven).shape == (5, CLASSES)
