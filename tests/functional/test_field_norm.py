"""The general form over every field: loops over single numbers, gradients, the way back."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from farfield.functional import (
    context_norm,
    denormalize,
    field_norm,
    field_statistics,
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
from farfield.functional.internal import (
    Field,
    field_center,
    field_moments,
    norm_by_statistics,
    over_time,
    sliding_context_center,
)
from golden import Golden, precisions
from made import gradcheck
from oracles import normalizers as oracle

SEQUENCES: dict[str, tuple[Field, oracle.Members]] = {
    "batch": (over_batch, oracle.slot),
    "batch and places": (over_batch_and_places, oracle.pooled),
    "batch and time": (over_batch_and_time, oracle.batch_and_time),
    "sub-batches": (over_sub_batches(2), oracle.sub_batch(2)),
    "small batches": (over_sub_batches(9), oracle.sub_batch(9)),
    "pieces": (over_pieces(4), oracle.piece(4)),
    "whole pieces": (over_pieces(5), oracle.piece(5)),
}
IMAGES: dict[str, tuple[Field, oracle.Members]] = {
    "all channels": (over_channel_groups(1), oracle.channel_group(1)),
    "groups": (over_channel_groups(2), oracle.channel_group(2)),
    "each channel": (over_channel_groups(4), oracle.channel_group(4)),
    "images": (over_images, oracle.images),
    "features": (over_features, oracle.features),
}
SHAPES = [(5, 3, 2), (3, 2, 5, 1)]
CASES = [
    pytest.param(*case, shape, id=f"{name}-{shape}")
    for cases, shapes in ((SEQUENCES, SHAPES), (IMAGES, [(2, 4, 3, 2), (3, 4, 2)]))
    for (name, case), shape in itertools.product(cases.items(), shapes)
]
cases = pytest.mark.parametrize("field, members, shape", CASES)
sequences = pytest.mark.parametrize("name", SEQUENCES)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


@cases
@pytest.mark.parametrize("learned", [False, True])
def test_equation(field, members, shape, learned: bool) -> None:
    z = 3 * drawn(*shape) + 1
    eps = torch.tensor(0.3, dtype=torch.float64) if learned else 0.3
    centered, scales, expected = oracle.field_norm(z.numpy(), members, 0, 0.3)
    np.testing.assert_allclose(field_norm(z, field, eps=eps), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(field_center(z, field), centered, rtol=1e-9, atol=1e-12)
    mean, scale = field_statistics(z, field, eps=eps)
    np.testing.assert_allclose(mean, z.numpy() - centered, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scale, scales, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["batch", "batch and places", "batch and time"])
def test_correction(name: str) -> None:
    field, members = SEQUENCES[name]
    z = drawn(3, 2, 4, 2)
    _, scales, expected = oracle.field_norm(z.numpy(), members, 1, 0.3)
    found = field_norm(z, field, correction=1, eps=0.3)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    _, scale = field_statistics(z, field, correction=1, eps=0.3)
    np.testing.assert_allclose(scale, scales, rtol=1e-9, atol=1e-12)


@sequences
def test_gain_and_shift_belong_to_the_features_everywhere(name: str) -> None:
    field, _ = SEQUENCES[name]
    z, gain, shift = drawn(5, 2, 3, 2), drawn(2, seed=1), drawn(2, seed=2)
    for eps in (0.3, torch.tensor(0.3, dtype=torch.float64)):
        expected = gain * field_norm(z, field, eps=eps) + shift
        found = field_norm(z, field, gain, shift, eps=eps)
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)


@cases
def test_gradient(field, members, shape) -> None:
    tensors = [drawn(*shape).requires_grad_(), torch.tensor(0.3).double().requires_grad_()]
    assert gradcheck(lambda z, eps: field_norm(z, field, eps=eps), tensors)
    assert gradcheck(lambda z: field_norm(z, field, eps=0.3), tensors[0])


@pytest.mark.parametrize("segments", [None, [[0, 1], [2, 3]], [[3, 0, 1], [2]]])
def test_over_time_it_is_context_normalization(segments) -> None:
    z, gain, shift = drawn(3, 4, 2), drawn(2, seed=1), drawn(2, seed=2)
    found = field_norm(z, over_time(segments), gain, shift, eps=0.1)
    expected = context_norm(z, gain, shift, segments=segments, eps=0.1)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("length", [1, 4, 7])
@pytest.mark.parametrize("shape", SHAPES)
def test_sliding_equation(length: int, include_self: bool, shape: tuple[int, ...]) -> None:
    z, gain, shift = drawn(*shape), drawn(shape[-1], seed=1), drawn(shape[-1], seed=2)
    members = oracle.window(length, include_self)
    centered, _, expected = oracle.field_norm(z.numpy(), members, 0, 0.2)
    options = {"length": length, "include_self": include_self}
    found = sliding_context_norm(z, gain, shift, eps=0.2, **options)
    np.testing.assert_allclose(found, expected * gain.numpy() + shift.numpy(), rtol=1e-9)
    np.testing.assert_allclose(
        sliding_context_center(z, **options), centered, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_sliding_gradient(shape: tuple[int, ...]) -> None:
    tensors = [drawn(*shape), drawn(shape[-1], seed=1), drawn(shape[-1], seed=2)]
    tensors = [tensor.requires_grad_() for tensor in tensors]
    assert gradcheck(lambda z, w, b: sliding_context_norm(z, w, b, eps=0.2), tensors)


def test_a_batch_of_the_paper_has_26_pieces_the_last_of_3() -> None:
    parts, _ = over_pieces(5)(drawn(32, 7, 4, 2))
    assert [tuple(part.shape) for part in parts] == [(7 * 25, 5, 2), (7, 3, 2)]


@given(seed=st.integers(0, 999), name=st.sampled_from(sorted(SEQUENCES)))
def test_the_way_back(seed: int, name: str) -> None:
    z, (field, _) = 5 * drawn(5, 3, 2, seed=seed) - 2, SEQUENCES[name]
    back = denormalize(field_norm(z, field), *field_statistics(z, field))
    torch.testing.assert_close(back, z, rtol=1e-7, atol=1e-7)


@settings(max_examples=20)
@given(seed=st.integers(0, 999), scale=st.floats(0.1, 10), offset=st.floats(-10, 10))
def test_location_and_scale_of_a_field_are_forgotten(seed, scale, offset) -> None:
    z = drawn(5, 2, 3, 2, seed=seed)
    for field, _ in SEQUENCES.values():
        parts, whole = field(z)
        moved = whole(
            [part * (scale + n) + (offset - n) for n, part in enumerate(parts) if len(part)]
        )
        outs = [field_norm(x, field, eps=1e-18) for x in (z, moved)]
        torch.testing.assert_close(*outs, rtol=1e-4, atol=1e-4)


@given(seed=st.integers(0, 999))
def test_problems_in_another_order(seed: int) -> None:
    """Over the whole batch each keeps its result; in sub-batches and pieces it need not."""
    z = drawn(6, 2, 3, 2, seed=seed)
    order = torch.randperm(6, generator=torch.Generator().manual_seed(seed))
    for name in ("batch", "batch and places", "batch and time"):
        field, _ = SEQUENCES[name]
        torch.testing.assert_close(
            field_norm(z, field)[order], field_norm(z[order], field), rtol=1e-9, atol=1e-9
        )


@precisions
def test_smoothed_norms_of_the_released_code(dtype: torch.dtype, golden) -> None:
    arrays = Golden("divnorm_ln_bn_smooth", golden("divnorm_ln_bn_smooth"), dtype)
    images, vectors = arrays.tensor("in.x").movedim(-1, 1), arrays.tensor("in.x2")
    for name, eps, field in (
        ("ln_4d_eps025", 0.25, over_channel_groups(1)),
        ("bn_4d_eps1", 1.0, over_images),
        ("bn_4d_eps00625", 0.0625, over_images),
    ):
        arrays.check(field_norm(images, field, eps=eps).movedim(1, -1), name)
    arrays.check(field_norm(vectors, over_features, eps=1.0), "ln_2d_eps1")
    arrays.check(field_center(images, over_images).movedim(1, -1), "bn_mean_only")


def test_what_torch_has() -> None:
    z = drawn(3, 4, 5, 2)
    for field, theirs in (
        (over_channel_groups(2), F.group_norm(z, 2)),
        (over_channel_groups(4), F.instance_norm(z)),
        (over_images, F.batch_norm(z, None, None, training=True)),
        (over_features, F.layer_norm(z, (2,))),
    ):
        torch.testing.assert_close(field_norm(z, field, eps=1e-5), theirs, rtol=1e-9, atol=1e-9)


def test_moments_of_a_training_set_are_summed_in_float64() -> None:
    z = (drawn(9000, 2, 3) + 1000).float()
    for field, shape in ((over_batch, (2, 3)), (over_batch_and_places, (3,))):
        mean, variance = (x.reshape(shape) for x in field_moments(z, field))
        axes = (0,) if field is over_batch else (0, 1)
        torch.testing.assert_close(mean, z.double().mean(axes), rtol=1e-12, atol=0)
        expected = z.double().var(axes, correction=0)
        torch.testing.assert_close(variance, expected, rtol=1e-9, atol=0)
        by_them = norm_by_statistics(z.double(), mean, variance, eps=0.1)
        itself = field_norm(z.double(), field, eps=0.1)
        torch.testing.assert_close(by_them, itself, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@sequences
def test_short_floats_keep_float32_statistics(dtype, name: str) -> None:
    z = (1000 + 8 * drawn(5, 3, 2)).to(dtype)
    field, _ = SEQUENCES[name]
    found = field_norm(z, field)
    assert found.dtype == dtype
    assert torch.equal(found, field_norm(z.float(), field).to(dtype))
    sliding = sliding_context_norm(z)
    assert torch.equal(sliding, sliding_context_norm(z.float()).to(dtype))


def test_refusals(unchecked) -> None:
    z = drawn(3, 4, 2)
    with pytest.raises(ValueError, match=r"weight must have one number per feature \(2\)"):
        field_norm(z, over_batch, drawn(4))
    with pytest.raises(ValueError, match="bias must have one number per feature"):
        field_norm(drawn(3, 4, 2), over_channel_groups(2), None, drawn(2))
    with pytest.raises(ValueError, match="less than the 3 number"):
        field_norm(z, over_batch, correction=3)
    with pytest.raises(ValueError, match=r"problems of at least one feature, got torch\.int64"):
        field_norm(torch.ones(2, 2, dtype=torch.int64), over_batch)
    with pytest.raises(ValueError, match=r"at least one problem, got shape \(0, 4, 2\)"):
        field_moments(z[:0], over_batch)
    with pytest.raises(ValueError, match="num_groups must divide the 4 channels, got num_groups=3"):
        field_norm(z, over_channel_groups(3))
    with pytest.raises(ValueError, match="group_size must be at least 1, got 0"):
        over_sub_batches(0)
    with pytest.raises(ValueError, match="length must be at least 1, got 0"):
        over_pieces(0)
    with pytest.raises(ValueError, match="length must be at least 1, got 0"):
        sliding_context_norm(z, length=0)
    with pytest.raises(ValueError, match=r"\(batch, \*candidate, time, feature\)"):
        sliding_context_norm(drawn(3, 2))
    with pytest.raises(ValueError, match="weight must have one number per feature"):
        sliding_context_norm(z, drawn(4))
    with pytest.raises(ValueError, match="field must be one group, got 4 of them"):
        field_moments(drawn(8, 2), over_sub_batches(2))
    with pytest.raises(ValueError, match="must be known, got nan; take the statistics"):
        norm_by_statistics(z, z[0], torch.full((4, 2), torch.nan))
    with pytest.raises(ValueError, match=r"mean must have the shape \(4, 2\) or \(2,\)"):
        norm_by_statistics(z, drawn(3, 2), drawn(4, 2))
