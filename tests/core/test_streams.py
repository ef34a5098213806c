"""Named streams: the same numbers for the same path, unrelated ones for any other."""

from __future__ import annotations

import hashlib
import itertools
import random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from farfield.core import Stream, stream

PATHS = st.lists(st.text(max_size=4) | st.integers(-3, 3), max_size=4).map(tuple)


def first_draws(place: Stream) -> tuple[str, str]:
    """Hashes of the first 64 numbers of both generators, in little-endian bytes."""
    raw = place.numpy().bit_generator.random_raw(64).astype("<u8")
    drawn = torch.randint(2**40, (64,), generator=place.torch()).numpy().astype("<i8")
    return tuple(hashlib.sha256(part.tobytes()).hexdigest()[:16] for part in (raw, drawn))


# What every stored result of the library was drawn from. These never change.
@pytest.mark.parametrize(
    "place, numpy_hash, torch_hash",
    [
        (stream(0), "97f29be528686315", "b6c511d9d291d7dd"),
        (stream(0, "same-different", "shapes"), "2986d91a03af4360", "4072bdbadd59cfaf"),
        (stream(7, "training", 3, "batches"), "eb27516191e2c241", "b5cba411d33ca3c2"),
        (stream(2**70, "ärger", "λ"), "45041f3bc91059b1", "4cfacecad85284a9"),
    ],
    ids=["root", "words", "numbers", "large-and-foreign"],
)
def test_first_draws_are_those_stored(place: Stream, numpy_hash: str, torch_hash: str) -> None:
    assert first_draws(place) == (numpy_hash, torch_hash)


def test_a_stream_starts_afresh_each_time_it_is_asked() -> None:
    place = stream(3, "weights")
    generator = place.numpy()
    first = generator.random(5)
    assert not np.array_equal(generator.random(5), first)
    assert np.array_equal(place.numpy().random(5), first)
    drawn = torch.rand(5, generator=place.torch())
    assert torch.equal(torch.rand(5, generator=place.torch()), drawn)


@given(PATHS, PATHS)
def test_other_paths_have_other_keys(one: tuple[str | int, ...], other: tuple[str | int, ...]):
    assert (stream(0, *one).key == stream(0, *other).key) == (one == other)


@pytest.mark.parametrize(
    "one, other",
    [
        (("a", "b"), ("a,b",)),
        (("ab",), ("a", "b")),
        ((1,), ("1",)),
        ((), ("",)),
        (('a","b',), ("a", "b")),
    ],
)
def test_paths_that_read_alike_are_kept_apart(
    one: tuple[str | int, ...], other: tuple[str | int, ...]
) -> None:
    assert stream(0, *one).key != stream(0, *other).key


def test_the_seed_is_no_part_of_the_path() -> None:
    assert stream(1, 2).key != stream(12).key
    assert stream(0, 1).key != stream(1, 0).key


def test_a_child_is_the_stream_of_the_longer_path() -> None:
    assert stream(4, "a").child("b", 2) == stream(4, "a", "b", 2)
    assert stream(4, "a").child("b").child(2).key == stream(4, "a", "b", 2).key
    assert stream(4, "a").child() == stream(4, "a")


def test_neighbouring_streams_are_unrelated() -> None:
    count = 20_000
    places = [stream(seed, *path) for seed in (0, 1) for path in ((), (0,), (1,), ("0",))]
    by_numpy = np.stack([place.numpy().standard_normal(count) for place in places])
    by_torch = np.stack(
        [torch.randn(count, generator=place.torch(), dtype=torch.float64) for place in places]
    )
    correlations = np.corrcoef(np.concatenate([by_numpy, by_torch]))
    off_diagonal = correlations[np.triu_indices(len(correlations), k=1)]
    # 120 pairs: five standard errors are passed by chance once in ten thousand such sets.
    assert np.abs(off_diagonal).max() < 5 / np.sqrt(count)


def test_draws_do_not_depend_on_what_else_is_drawn() -> None:
    purposes = ("shapes", "weights", "batches")
    alone = {purpose: stream(5, purpose).numpy().random(4).tolist() for purpose in purposes}
    for order in itertools.permutations(purposes):
        generators = {purpose: stream(5, purpose).numpy() for purpose in order}
        drawn: dict[str, list[float]] = {purpose: [] for purpose in purposes}
        for _ in range(4):
            for purpose in order:
                drawn[purpose].append(float(generators[purpose].random()))
        assert drawn == alone


def test_the_global_generators_are_left_alone(unchecked: None) -> None:
    # `unchecked`, for the shape hook itself draws from `random` to pick what it looks at.
    def states() -> tuple[object, ...]:
        kind, keys, *rest = np.random.get_state()  # noqa: NPY002 - the legacy state is the point
        return random.getstate(), torch.get_rng_state().tolist(), kind, keys.tolist(), *rest

    before = states()
    place = stream(9, "anything")
    place.numpy().standard_normal(100)
    torch.randn(100, generator=place.torch())
    assert states() == before


def test_the_global_generators_are_not_read() -> None:
    place = stream(9, "anything")
    drawn = torch.rand(3, generator=place.torch()).tolist(), place.numpy().random(3).tolist()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1234)
        again = torch.rand(3, generator=place.torch()).tolist(), place.numpy().random(3).tolist()
    assert again == drawn


@pytest.mark.parametrize("seed", [-1, 1.0, "0", True, None, np.float64(3)])
def test_a_seed_that_is_no_counting_number_is_refused(unchecked: None, seed: object) -> None:
    with pytest.raises(ValueError, match="seed must be an int of at least 0, got"):
        stream(seed)


@pytest.mark.parametrize("part", [None, 1.5, True, ("a",), b"a"])
def test_a_path_of_other_things_is_refused(unchecked: None, part: object) -> None:
    with pytest.raises(ValueError, match=r"path\[\d\] must be text or an int, got"):
        stream(0, "a", part)
    with pytest.raises(ValueError, match=r"path\[\d\] must be text or an int, got"):
        stream(0, "a").child(part)
