"""Normalizers as modules: training and test batches, training statistics, what torch has."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from farfield.functional import (
    context_norm,
    denormalize,
    divisive_norm_2d,
    field_norm,
    over_batch,
    over_batch_and_places,
    over_batch_and_time,
    over_channel_groups,
    over_features,
    over_images,
    over_pieces,
    over_sub_batches,
    sliding_context_norm,
)
from farfield.functional.internal import over_time
from farfield.nn import (
    CONTEXTS,
    BatchContextNorm,
    ContextNorm,
    ContextWhitening,
    DivisiveNorm1d,
    DivisiveNorm2d,
    GroupNorm,
    ImageBatchNorm,
    InstanceNorm,
    LayerNorm,
    MisalignedContextNorm,
    PooledBatchNorm,
    SlidingContextNorm,
    SlotBatchNorm,
    SubBatchNorm,
)

FEATURES = 3
BATCHWISE = {
    SlotBatchNorm: lambda z, *affine: field_norm(z, over_batch, *affine),
    PooledBatchNorm: lambda z, *affine: field_norm(z, over_batch_and_places, *affine),
    BatchContextNorm: lambda z, *affine: field_norm(z, over_batch_and_time, *affine),
    SubBatchNorm: lambda z, *affine: field_norm(z, over_sub_batches(4), *affine),
    MisalignedContextNorm: lambda z, *affine: field_norm(z, over_pieces(5), *affine),
    SlidingContextNorm: sliding_context_norm,
}
SMOOTHED = {
    "layer": (lambda **options: LayerNorm(FEATURES, **options), over_features),
    "group": (lambda **options: GroupNorm(2, 4, **options), over_channel_groups(2)),
    "instance": (lambda **options: InstanceNorm(4, **options), over_channel_groups(4)),
    "images": (lambda **options: ImageBatchNorm(4, **options), over_images),
}
batchwise = pytest.mark.parametrize("kind", BATCHWISE, ids=lambda kind: kind.__name__)
smoothed = pytest.mark.parametrize("name", SMOOTHED)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def settled(module: nn.Module) -> nn.Module:
    """In float64, gain and shift moved away from ones and zeros."""
    module = module.double()
    with torch.no_grad():
        for number, parameter in enumerate((module.weight, module.bias)):
            parameter.add_(0.3 * drawn(*parameter.shape, seed=number + 1))
    return module


# --- Problems of a batch together ----------------------------------------------------------------


@batchwise
@pytest.mark.parametrize("shape", [(7, 4, FEATURES), (7, 2, 4, FEATURES)])
def test_in_training_the_whole_batch_counts(kind, shape: tuple[int, ...]) -> None:
    module, z = settled(kind(FEATURES, test_batch_size=3)), drawn(*shape)
    expected = BATCHWISE[kind](z, module.weight, module.bias)
    torch.testing.assert_close(module(z), expected, rtol=1e-9, atol=1e-9)


@batchwise
@pytest.mark.parametrize("method", ["forward", "center"])
def test_in_evaluation_a_test_batch_counts(kind, method: str) -> None:
    module, z = settled(kind(FEATURES, test_batch_size=3)), drawn(8, 2, 4, FEATURES)
    function = getattr(module, method)
    expected = torch.cat([function(part) for part in (z[:3], z[3:6], z[6:])])
    module.eval()
    torch.testing.assert_close(function(z), expected, rtol=1e-9, atol=1e-9)


@batchwise
def test_a_learned_constant_starts_at_the_root_of_eps(kind) -> None:
    z = drawn(6, 4, FEATURES)
    fixed = kind(FEATURES, eps=0.25, affine=False).double()
    learned = kind(FEATURES, eps=0.25, affine=False, learned_sigma=True).double()
    assert list(fixed.parameters()) == []
    assert learned.sigma.item() == 0.5
    torch.testing.assert_close(learned(z), fixed(z), rtol=1e-9, atol=1e-9)
    learned(z).square().sum().backward()
    assert learned.sigma.grad < 0  # a larger constant makes everything smaller


@pytest.mark.parametrize("kind", [SlotBatchNorm, PooledBatchNorm, ContextNorm])
@pytest.mark.parametrize("correction", [0, 1])
@pytest.mark.parametrize("learned", [False, True])
def test_what_statistics_take_out_they_put_back(kind, correction: int, learned: bool) -> None:
    options = {"correction": correction, "learned_sigma": learned, "affine": False}
    module, z = kind(FEATURES, eps=0.1, **options).double(), 3 * drawn(9, 4, FEATURES) + 1
    for mode in (True, False):
        module.train(mode)
        back = denormalize(module(z), *module.statistics(z))
        torch.testing.assert_close(back, z, rtol=1e-9, atol=1e-9)
        mean, scale = module.statistics(z)
        torch.testing.assert_close(module.center(z), z - mean, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(module(z) * scale, module.center(z), rtol=1e-9, atol=1e-9)


# --- Statistics of the training set --------------------------------------------------------------

TAKING = {
    "slot": (lambda **options: SlotBatchNorm(FEATURES, **options), (2, 4), over_batch),
    "pooled": (lambda **options: PooledBatchNorm(FEATURES, **options), True, over_batch_and_places),
}
taking = pytest.mark.parametrize("name", TAKING)


@taking
@pytest.mark.parametrize("correction", [0, 1])
def test_training_statistics_normalize_in_evaluation_alone(name: str, correction: int) -> None:
    build, told, field = TAKING[name]
    module = settled(build(training_statistics=told, correction=correction, eps=0.1))
    training, z = 2 * drawn(50, 2, 4, FEATURES) + 1, drawn(5, 2, 4, FEATURES, seed=3)
    module.calibrate(training)
    affine = (module.weight, module.bias)
    expected = field_norm(z, field, *affine, correction=correction, eps=0.1)
    torch.testing.assert_close(module(z), expected, rtol=1e-9, atol=1e-9)
    module.eval()
    itself = field_norm(training, field, *affine, correction=correction, eps=0.1)
    torch.testing.assert_close(module(training), itself, rtol=1e-9, atol=1e-9)
    for row in range(5):  # the others are no matter
        torch.testing.assert_close(module(z)[row], module(z[row : row + 1])[0], rtol=0, atol=1e-12)
    mean, scale = module.statistics(z)
    torch.testing.assert_close(module.center(z), z - mean, rtol=1e-9, atol=1e-9)
    again = affine[0] * (z - mean) / scale + affine[1]
    torch.testing.assert_close(module(z), again, rtol=1e-9, atol=1e-9)


@taking
def test_training_statistics_are_part_of_the_state(name: str) -> None:
    build, told, _ = TAKING[name]
    module, other = (build(training_statistics=told).double() for _ in range(2))
    module.calibrate(drawn(50, 2, 4, FEATURES))
    assert {"mean", "variance"} <= module.state_dict().keys()
    other.load_state_dict(module.state_dict())
    z = drawn(5, 2, 4, FEATURES, seed=3)
    assert torch.equal(module.eval()(z), other.eval()(z))
    assert "mean" not in build().state_dict()


@taking
def test_training_statistics_that_were_never_taken_are_missed(name: str, unchecked) -> None:
    build, told, _ = TAKING[name]
    module = build(training_statistics=told).double()
    z = drawn(5, 2, 4, FEATURES)
    assert module(z).isfinite().all()
    module.eval()
    for method in (module.forward, module.center, module.statistics):
        with pytest.raises(ValueError, match="take the statistics of the training set first"):
            method(z)
        with pytest.raises(ValueError, match="z must have num_features=3 features"):
            method(z[..., :1])
    with pytest.raises(ValueError, match="training_statistics must be"):
        build().calibrate(z)
    with pytest.raises(ValueError, match="z must "):
        module.calibrate(z[..., :2])


# --- What torch has ------------------------------------------------------------------------------


def copied(theirs: nn.Module, ours: nn.Module) -> None:
    with torch.no_grad():
        theirs.weight.copy_(ours.weight)
        theirs.bias.copy_(ours.bias)


@pytest.mark.parametrize("training", [True, False])
def test_modules_that_torch_has_too(training: bool) -> None:
    """The rows of the table in docs/normalizers.md."""
    sequences, images = drawn(6, 2, 4, FEATURES), drawn(6, 4, 5, 3)
    flat = sequences.reshape(-1, FEATURES)
    pairs = [
        (LayerNorm(FEATURES), nn.LayerNorm(FEATURES, eps=1e-4), sequences, sequences),
        (GroupNorm(2, 4), nn.GroupNorm(2, 4, eps=1e-4), images, images),
        (InstanceNorm(4), nn.InstanceNorm2d(4, eps=1e-4, affine=True), images, images),
        (ImageBatchNorm(4), nn.BatchNorm2d(4, eps=1e-4), images, images),
        (ImageBatchNorm(4), nn.BatchNorm1d(4, eps=1e-4), images[..., 0, 0], images[..., 0, 0]),
        (
            PooledBatchNorm(FEATURES, eps=1e-4),
            nn.BatchNorm1d(FEATURES, eps=1e-4, track_running_stats=False),
            sequences,
            flat,
        ),
        (
            ContextNorm(FEATURES, eps=1e-4),
            nn.InstanceNorm1d(FEATURES, eps=1e-4, affine=True),
            sequences.flatten(0, 1),
            sequences.flatten(0, 1).mT,
        ),
        (
            BatchContextNorm(FEATURES, eps=1e-4),
            nn.BatchNorm1d(FEATURES, eps=1e-4, track_running_stats=False),
            sequences[:, 0],
            sequences[:, 0].mT,
        ),
    ]
    for ours, theirs, mine, given_to_them in pairs:
        settled(ours).train(training)
        copied(theirs.double().train(training), ours)
        found, expected = ours(mine), theirs(given_to_them)
        if isinstance(theirs, nn.BatchNorm1d | nn.InstanceNorm1d) and expected.ndim == 3:
            expected = expected.mT
        expected = expected.reshape(found.shape)
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9, msg=repr(ours))


def test_at_one_place_slots_are_columns_that_torch_normalizes() -> None:
    ours, z = settled(SlotBatchNorm(FEATURES, eps=1e-4)), drawn(6, 2, 4, FEATURES)
    theirs = nn.BatchNorm1d(2 * 4 * FEATURES, eps=1e-4).double()
    with torch.no_grad():
        theirs.weight.copy_(ours.weight.repeat(8))
        theirs.bias.copy_(ours.bias.repeat(8))
    torch.testing.assert_close(ours(z).flatten(1), theirs(z.flatten(1)), rtol=1e-9, atol=1e-9)


def test_running_averages_are_those_of_torch() -> None:
    for learned in (False, True):
        ours = ImageBatchNorm(4, learned_sigma=learned, momentum=0.3).double()
        theirs = nn.BatchNorm2d(4, eps=1e-4, momentum=0.3).double()
        for seed in range(3):
            images = drawn(6, 4, 5, 3, seed=seed)
            torch.testing.assert_close(ours(images), theirs(images), rtol=1e-9, atol=1e-9)
        ours.eval(), theirs.eval()
        torch.testing.assert_close(ours(images), theirs(images), rtol=1e-9, atol=1e-9)
        centered = images - theirs.running_mean.reshape(-1, 1, 1)
        torch.testing.assert_close(ours.center(images), centered, rtol=1e-9, atol=1e-9)


def test_states_carry_over_from_torch() -> None:
    """As docs/migration.md says."""
    pairs = [
        (nn.LayerNorm(4), LayerNorm(4)),
        (nn.LayerNorm(4), DivisiveNorm1d(4, 3, affine=True)),
        (nn.GroupNorm(2, 4), GroupNorm(2, 4)),
        (nn.GroupNorm(2, 4), DivisiveNorm2d(4, 3, affine=True)),
        (nn.InstanceNorm2d(4, affine=True), InstanceNorm(4)),
        (nn.InstanceNorm1d(4, affine=True), ContextNorm(4)),
        (nn.BatchNorm1d(4, track_running_stats=False), PooledBatchNorm(4)),
    ]
    for theirs, ours in pairs:
        nn.init.normal_(theirs.weight, generator=torch.Generator().manual_seed(0))
        ours.load_state_dict(theirs.state_dict())
        assert torch.equal(ours.weight, theirs.weight)


@pytest.mark.parametrize("strict", [True, False])
def test_the_state_of_torch_s_batch_norm_is_loaded(strict: bool) -> None:
    theirs, images = nn.BatchNorm2d(4, eps=1e-4).double(), drawn(6, 4, 5, 3)
    theirs(3 * images + 1)
    with torch.no_grad():
        theirs.weight.copy_(drawn(4, seed=1))
        theirs.bias.copy_(drawn(4, seed=2))
    ours = nn.Sequential(ImageBatchNorm(4)).double()
    ours.load_state_dict(nn.Sequential(theirs).state_dict(), strict=strict)
    assert "num_batches_tracked" not in ours[0].state_dict()
    torch.testing.assert_close(ours.eval()(images), theirs.eval()(images), rtol=1e-9, atol=1e-9)
    back = nn.BatchNorm2d(4, eps=1e-4).double().eval()
    back.load_state_dict(ours[0].state_dict(), strict=strict)
    torch.testing.assert_close(back(images), theirs(images), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(back(3 * images), ours(3 * images), rtol=1e-9, atol=1e-9)


@smoothed
@pytest.mark.parametrize("affine", [False, True])
def test_smoothed_norms(name: str, affine: bool) -> None:
    build, field = SMOOTHED[name]
    z = drawn(6, 4, 5, FEATURES)
    fixed = build(sigma=0.5, affine=affine).double()
    learned = build(sigma=0.5, affine=affine, learned_sigma=True).double()
    if affine:
        settled(fixed)
        learned.load_state_dict(fixed.state_dict() | {"sigma": learned.sigma})
    else:
        expected = field_norm(z, field, eps=0.25)
        torch.testing.assert_close(fixed(z), expected, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(learned(z), fixed(z), rtol=1e-9, atol=1e-9)
    learned(z).square().sum().backward()
    assert learned.sigma.grad.isfinite()
    mean = z - fixed.center(z)
    torch.testing.assert_close(field_norm(mean, field), torch.zeros_like(z), rtol=0, atol=1e-6)


@settings(max_examples=20)
@given(seed=st.integers(0, 999), scale=st.floats(0.1, 10), offset=st.floats(-10, 10))
def test_without_a_constant_location_and_scale_are_forgotten(seed, scale, offset) -> None:
    z = drawn(6, 4, 5, FEATURES, seed=seed)
    for build, _ in SMOOTHED.values():
        module = build(sigma=1e-5).double()
        torch.testing.assert_close(module(z), module(scale * z + offset), rtol=1e-4, atol=1e-4)


# --- Divisive normalization ----------------------------------------------------------------------


def test_divisive_modules_are_the_functions_with_gain_and_shift() -> None:
    images = drawn(2, 4, 6, 5)
    options = {"suppression_window": 5, "sigma": 0.5, "released_suppression": True}
    module = settled(DivisiveNorm2d(4, 3, affine=True, **options))
    gain, shift = (own.reshape(-1, 1, 1) for own in (module.weight, module.bias))
    expected = divisive_norm_2d(images, 3, **options) * gain + shift
    torch.testing.assert_close(module(images), expected, rtol=1e-9, atol=1e-9)
    vectors = drawn(2, 3, 8)
    module = settled(DivisiveNorm1d(8, 3, suppression_window=5, sigma=0.5, affine=True))
    bare = DivisiveNorm1d(8, 3, suppression_window=5, sigma=0.5).double()
    expected = bare(vectors) * module.weight + module.bias
    torch.testing.assert_close(module(vectors), expected, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(bare.center(vectors), module.center(vectors), rtol=0, atol=0)


def test_a_large_constant_leaves_the_centered_activations() -> None:
    images = drawn(2, 4, 6, 5)
    module = DivisiveNorm2d(4, 3, sigma=1e6).double()
    torch.testing.assert_close(1e6 * module(images), module.center(images), rtol=1e-6, atol=1e-9)


# --- Padding -------------------------------------------------------------------------------------


def padded(shorter: torch.Tensor, which: list[int], length: int) -> tuple[torch.Tensor, ...]:
    """A problem at some places of a longer one, with what nobody may look at between them."""
    z = torch.full((length, FEATURES), torch.nan, dtype=torch.float64)
    z[which] = shorter
    mask = torch.ones(length, dtype=torch.bool)
    mask[which] = False
    return z, mask


@pytest.mark.parametrize(
    "module",
    [
        settled(ContextNorm(FEATURES, eps=0.1)),
        settled(ContextNorm(FEATURES, correction=1)),
        ContextNorm(FEATURES, learned_sigma=True, eps=0.1).double(),
        ContextWhitening(FEATURES, eps=1e-3),
    ],
    ids=["norm", "correction", "learned", "whitening"],
)
def test_padding_changes_nothing_and_comes_out_as_zeros(module: nn.Module) -> None:
    lengths, places = (5, 2, 3), ([0, 1, 2, 3, 4], [0, 1], [1, 2, 4])
    problems = [drawn(n, FEATURES, seed=n) for n in lengths]
    stacked = zip(problems, places, strict=True)
    z, mask = map(torch.stack, zip(*(padded(*one, 5) for one in stacked), strict=True))
    z.requires_grad_()
    found = module(z, mask)
    for row, (problem, which) in enumerate(zip(problems, places, strict=True)):
        alone = problem.clone().unsqueeze(0).requires_grad_()
        expected = module(alone)
        torch.testing.assert_close(found[row, which], expected[0], rtol=1e-9, atol=1e-9)
        (own,) = torch.autograd.grad(expected.sin().sum(), alone)
        (given_back,) = torch.autograd.grad(found[row].sin().sum(), z, retain_graph=True)
        torch.testing.assert_close(given_back[row, which], own[0], rtol=1e-7, atol=1e-9)
        if isinstance(module, ContextNorm):
            centered = module.center(z, mask)[row, which]
            torch.testing.assert_close(centered, module.center(alone)[0], rtol=1e-9, atol=1e-9)
            for part, whole in zip(
                module.statistics(z, mask), module.statistics(alone), strict=True
            ):
                torch.testing.assert_close(part[row, :1], whole[0, :1], rtol=1e-9, atol=1e-9)
    assert not found[mask].any()


def test_padding_within_segments() -> None:
    module = settled(ContextNorm(FEATURES, segments=((0, 2, 4), (1, 3)), eps=0.1))
    shorter = settled(ContextNorm(FEATURES, segments=((0, 2), (1, 3)), eps=0.1))
    z, mask = drawn(2, 5, FEATURES), torch.tensor([False, False, False, False, True]).expand(2, -1)
    found, expected = module(z, mask), shorter(z[:, :4])
    torch.testing.assert_close(found[:, :4], expected, rtol=1e-9, atol=1e-9)
    mean, scale = module.statistics(z, mask)
    again = module.weight * (z - mean) / scale + module.bias
    torch.testing.assert_close(found[:, :4], again[:, :4], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(module.center(z, mask)[:, :4], (z - mean)[:, :4], rtol=0, atol=1e-12)
    none = torch.zeros_like(mask)
    torch.testing.assert_close(module(z, none), module(z), rtol=1e-9, atol=1e-9)
    everything = module(z, torch.ones_like(mask))
    assert torch.equal(everything, torch.zeros_like(z))


def test_a_mask_of_another_kind_is_refused(unchecked) -> None:
    z = drawn(2, 5, FEATURES)
    for module in (ContextNorm(FEATURES).double(), ContextWhitening(FEATURES)):
        for mask in (torch.zeros(2, 4, dtype=torch.bool), torch.zeros(2, 5), [True]):
            with pytest.raises(ValueError, match=r"padding_mask must be bool of shape \(2, 5\)"):
                module(z, mask)


# --- Where torch's layers stood ------------------------------------------------------------------


@pytest.mark.parametrize("kind", [ContextNorm, ContextWhitening])
def test_a_batch_is_not_taken_for_the_places_of_a_problem(kind, unchecked) -> None:
    module = kind(FEATURES)
    for name in {"forward", "center", "statistics"} & set(dir(module)):
        with pytest.raises(ValueError, match=r"got shape \(8, 3\): .*BatchNorm1d.*unsqueeze"):
            getattr(module, name)(drawn(8, FEATURES))


@pytest.mark.parametrize(
    "module",
    [
        *(kind(FEATURES, **options) for kind in BATCHWISE for options in ({}, {"affine": False})),
        ContextNorm(FEATURES),
        ContextWhitening(FEATURES),
        LayerNorm(FEATURES, learned_sigma=True),
        DivisiveNorm1d(FEATURES, 3),
    ],
    ids=repr,
)
@pytest.mark.parametrize("training", [True, False])
def test_of_no_problems_no_problems_are_normalized(module: nn.Module, training: bool) -> None:
    module = module.double().train(training)
    for shape in ((0, 4, FEATURES), (0, 2, 4, FEATURES)):
        z = drawn(*shape).requires_grad_()
        out = module(z)
        assert out.shape == z.shape
        out.sum().backward()
        assert z.grad.shape == z.shape
        for name in {"center", "statistics"} & set(dir(module)):
            parts = getattr(module, name)(z)
            for part in parts if isinstance(parts, tuple) else (parts,):
                assert part.shape == z.shape
    gains = [parameter for name, parameter in module.named_parameters() if name != "sigma"]
    assert all(gain.grad is not None for gain in gains)


# --- Refusals ------------------------------------------------------------------------------------


@batchwise
def test_refusals_of_batchwise_norms(kind, unchecked) -> None:
    with pytest.raises(ValueError, match="z must have num_features=3 features"):
        kind(FEATURES)(drawn(4, 2, 2))
    with pytest.raises(ValueError, match="num_features must be"):
        kind(0)
    with pytest.raises(ValueError, match="test_batch_size must be"):
        kind(FEATURES, test_batch_size=0)
    for eps in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="eps must be"):
            kind(FEATURES, eps=eps)


@pytest.mark.parametrize("kind", [BatchContextNorm, MisalignedContextNorm, SlidingContextNorm])
def test_without_a_time_there_is_nothing_to_normalize_over(kind, unchecked) -> None:
    module = kind(FEATURES).double()
    for method in (module.forward, module.center):
        with pytest.raises(ValueError, match=r"tensor of \(batch, \*candidate, time, feature\)"):
            method(drawn(4, FEATURES))


@pytest.mark.parametrize("learned", [True, False])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize(
    "kind",
    [
        InstanceNorm,
        partial(GroupNorm, 2),
        lambda *args, **options: ImageBatchNorm(*args, **options).eval(),
    ],
)
def test_of_no_images_no_images_are_normalized(kind, affine: bool, learned: bool) -> None:
    module = kind(4, affine=affine, learned_sigma=learned).double()
    images = drawn(0, 4, 3, 2).requires_grad_()
    out = module(images)
    assert out.shape == images.shape
    out.sum().backward()
    assert images.grad.shape == images.shape


def test_other_refusals(unchecked) -> None:
    with pytest.raises(ValueError, match="group_size must be"):
        SubBatchNorm(FEATURES, group_size=0)
    with pytest.raises(ValueError, match="piece_size must be"):
        MisalignedContextNorm(FEATURES, piece_size=0)
    with pytest.raises(ValueError, match="window must be"):
        SlidingContextNorm(FEATURES, window=0)
    with pytest.raises(ValueError, match="num_groups must divide num_channels=4, got num_groups=3"):
        GroupNorm(3, 4)
    for build, _ in SMOOTHED.values():
        with pytest.raises(ValueError, match="sigma must be"):
            build(sigma=-1.0)
        with pytest.raises(ValueError, match="z must"):
            build()(drawn(2, 7, 3, 2))
    with pytest.raises(ValueError, match="momentum must be"):
        ImageBatchNorm(4, momentum=0.0)
    for kind in (DivisiveNorm1d, DivisiveNorm2d):
        with pytest.raises(ValueError, match=r"window must be an int 1…\d+, got 0"):
            kind(4, 0)
        with pytest.raises(ValueError, match=r"window must be an int 1…\d+, got 2\.5"):
            kind(4, 2.5)
        with pytest.raises(ValueError, match=r"suppression_window must be an int 1…\d+.*, got 0"):
            kind(4, 3, suppression_window=0)
        with pytest.raises(ValueError, match="z must"):
            kind(4, 3)(drawn(2, 5, 3, 3))


# --- Names and prints ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONTEXTS)
def test_every_context_is_made_from_the_number_of_features(name: str) -> None:
    module, z = CONTEXTS[name](FEATURES), drawn(5, 4, FEATURES).float()
    assert module(z).shape == z.shape
    assert str(FEATURES) in repr(module)


def test_over_time_the_module_centers_segments() -> None:
    z = drawn(5, 4, FEATURES)
    for segments in (None, ((0, 1), (2, 3)), ((3, 0), (1, 2))):
        module = ContextNorm(FEATURES, segments=segments, affine=False).double()
        expected = field_norm(z, over_time(segments))
        torch.testing.assert_close(module(z), expected, rtol=1e-9, atol=1e-9)
        scaled = module.center(z) / module.statistics(z).scale
        torch.testing.assert_close(scaled, module(z), rtol=1e-9, atol=1e-9)
        assert torch.equal(module(z), context_norm(z, segments=segments))


def test_prints_tell_the_options() -> None:
    assert "group_size=2" in repr(SubBatchNorm(FEATURES, group_size=2))
    assert "window=3, include_self=False" in repr(
        SlidingContextNorm(FEATURES, window=3, include_self=False)
    )
    assert "sigma=0.5, learned_sigma=True" in repr(LayerNorm(4, sigma=0.5, learned_sigma=True))
    assert "training_statistics=(2, 4)" in repr(SlotBatchNorm(FEATURES, training_statistics=(2, 4)))
    assert "released_suppression=True" in repr(DivisiveNorm2d(4, 3, released_suppression=True))
