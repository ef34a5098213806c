"""The global generators of Python, NumPy and torch: seeded by a stream, and given back."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator

import numpy as np
import torch

from farfield.core._streams import Stream

Generator = (
    torch.Generator
    | np.random.Generator
    | np.random.BitGenerator
    | np.random.RandomState
    | random.Random
)
"""A generator that a module may hold."""


def seed_generators(stream: Stream) -> None:
    """Seed the global generators of Python, NumPy and torch.

    For code of others, which draws from nothing else: Farfield's own draws come from streams.

    Args:
        stream: Where the seed comes from.
    """
    seed = stream.torch().initial_seed()
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 — it is this generator that others draw from
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed_all(seed)


@contextlib.contextmanager
def forked_generators(stream: Stream) -> Iterator[None]:
    """Seed the global generators, and put them back as they were at the end of the block.

    Args:
        stream: Where the seed comes from.
    """
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    cpu = torch.get_rng_state()
    has_gpus = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    gpus = torch.cuda.get_rng_state_all() if has_gpus else []
    try:
        seed_generators(stream)
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        torch.set_rng_state(cpu)
        if gpus:
            torch.cuda.set_rng_state_all(gpus)


def reseed(generator: Generator, stream: Stream) -> None:
    """Seed a generator that a module holds.

    Args:
        generator: Of Python, NumPy or torch; changed in place.
        stream: Where the seed comes from.
    """
    seed = stream.torch().initial_seed()
    if isinstance(generator, torch.Generator):
        generator.manual_seed(seed)
    elif isinstance(generator, np.random.Generator):
        reseed(generator.bit_generator, stream)
    elif isinstance(generator, np.random.BitGenerator):
        generator.state = type(generator)(seed).state
    else:
        generator.seed(seed % 2**32)
