"""Named random streams, and the generators that they seed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
import torch

from farfield.core._arguments import Seed, check_fields


@final
@dataclass(frozen=True)
class Stream:
    """A node in the tree of random numbers, addressed by a seed and a path of words.

    Two streams with different paths are independent; the same seed and path give the same numbers
    on every machine, whatever else was drawn. A stream holds no state: each call of `numpy` or
    `torch` returns a fresh generator that starts at the stream's first number, so a run that was
    interrupted needs nothing but the path to go on. The global generators are never touched.

    Args:
        seed: Number of the run, at least 0.
        path: Words for the purpose, from general to special, e.g. `("same_different", "shapes")`.

    Raises:
        ValueError: If the seed is negative, or a part of the path is neither a word nor a number.
    """

    seed: Seed
    path: tuple[str | int, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)

    def child(self, *path: str | int) -> Stream:
        """Go one or more steps further down the tree."""
        return Stream(self.seed, (*self.path, *path))

    @property
    def key(self) -> int:
        """Key of the stream, 128 bits: the head of SHA-256 over seed and path."""
        text = json.dumps([self.seed, *self.path], ensure_ascii=False, separators=(",", ":"))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")

    def numpy(self) -> np.random.Generator:
        """Make a counter-based generator (Philox 4×64, Salmon et al. 2011) keyed by the path."""
        return np.random.Generator(np.random.Philox(key=self.key))

    def torch(self, device: torch.device | str = "cpu") -> torch.Generator:
        """Make a fresh torch generator on `device`, seeded by the path."""
        return torch.Generator(device=device).manual_seed(self.key & (2**63 - 1))


def stream(seed: int, *path: str | int) -> Stream:
    """Make the stream of run `seed` for the purpose that `path` names.

    Args:
        path: Words for the purpose, from general to special.

    Example:
        >>> stream(0, "noise").numpy().integers(10, size=3)
        array([7, 9, 3])
        >>> stream(0, "noise").numpy().integers(10, size=3)  # the same path, the same numbers
        array([7, 9, 3])
    """
    return Stream(seed, path)


Generator = (
    torch.Generator
    | np.random.Generator
    | np.random.BitGenerator
    | np.random.RandomState
    | random.Random
)
"""Generator that a module may hold."""


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
